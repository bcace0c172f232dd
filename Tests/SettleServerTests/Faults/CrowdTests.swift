import Dispatch
import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Many concurrent clients, and limits.
@Suite(.serialized) struct CrowdTests {
    /// The clients are a separate process. With both ends of the connections in this one, other tests could start no process
    /// meanwhile: Foundation's `Process` crashed with about 1350 open descriptors.
    private static let thousandClients = """
        import resource, socket, sys
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        def send(connection, line, body=""):
            head = "%s HTTP/1.1\\r\\nHost: test\\r\\nAuthorization: Basic YWRtaW46YWRtaW4=\\r\\n" % line
            if body:
                head += "Content-Type: application/json\\r\\nContent-Length: %d\\r\\n" % len(body)
            connection.sendall((head + "\\r\\n" + body).encode())
        def status(stream):
            line, length = stream.readline(), 0
            while (header := stream.readline().strip()):
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            stream.read(length)
            return line.split()[1].decode()
        all = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), 120) for _ in range(1000)]
        streams = [connection.makefile("rb") for connection in all]
        for number, connection in enumerate(all):
            send(connection, "PUT /db/d%d" % number, '{"n":%d}' % number)
        written = [status(stream) for stream in streams]
        for connection in all:
            send(connection, "GET /db/d7")
        print(written.count("201"), [status(stream) for stream in streams].count("200"))
        """

    @Test func `a thousand concurrent connections are all answered`() throws {
        let live = try LiveServer { $0.idleTimeout = .seconds(600) }
        _ = try live.send("PUT", "/db")
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = ["python3", "-c", Self.thousandClients, "\(live.port)"]
        let output = Pipe()
        python.standardOutput = output
        python.standardInput = FileHandle.nullDevice
        try python.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        python.waitForEnd()
        #expect(String(decoding: data, as: UTF8.self) == "1000 1000\n")
        #expect(String(decoding: try live.send("GET", "/db").body, as: UTF8.self).contains(#""doc_count":1000"#))
    }

    @Test func `of concurrent writers of one document exactly one succeeds`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let all = try (0..<50).map { _ in try live.connect() }
        for round in 0..<5 {
            for (number, connection) in all.enumerated() {
                try connection.write(LiveServer.request("PUT", "/db/d\(round)", #"{"n":\#(number)}"#))
            }
            let statuses = try all.map { try $0.readAnswer().head.dropFirst(9).prefix(3) }
            #expect(statuses.count { $0 == "201" } == 1)
            #expect(statuses.count { $0 == "409" } == all.count - 1)
        }
    }

    @Test func `pipelined requests are answered in order`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        let writes = (0..<100).map { LiveServer.request("PUT", "/db/d\($0)", "{}") }
        let reads = (0..<100).map { LiveServer.request("GET", "/db/d\($0)") }
        try connection.write((writes + reads).joined())
        for _ in 0..<100 { #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201")) }
        for number in 0..<100 {
            #expect(String(decoding: try connection.readAnswer().body, as: UTF8.self).contains(#""_id":"d\#(number)""#))
        }
    }

    @Test func `a request that fails affects no other`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let good = try live.connect()
        let bad = try live.connect()
        for number in 0..<50 {
            try bad.write(LiveServer.request("PUT", "/db/bad", "{\"a\":"))
            try good.write(LiveServer.request("PUT", "/db/d\(number)", "{}"))
            #expect(try bad.readAnswer().head.hasPrefix("HTTP/1.1 400"))
            #expect(try good.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        }
    }

    @Test func `a first line over the limit is refused`() throws {
        let live = try LiveServer()
        let connection = try live.connect()
        try? connection.write("GET /\(String(repeating: "x", count: 100_000)) HTTP/1.1\r\nHost: test\r\n\r\n")
        let answer = String(decoding: (try? connection.readToEnd()) ?? [], as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 4") || answer.isEmpty)
        #expect(try live.send("GET", "/").head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `a document too large is named, and one nested too deeply is refused`() throws {
        let live = try LiveServer { $0.largestDocument = 1000 }
        _ = try live.send("PUT", "/db")
        let long = #"{"_id":"long","t":"\#(String(repeating: "x", count: 2000))"}"#
        for (method, path, body) in [("PUT", "/db/long", long), ("POST", "/db", long)] {
            let answer = try live.send(method, path, body)
            #expect(answer.head.hasPrefix("HTTP/1.1 413"))
            #expect(String(decoding: answer.body, as: UTF8.self).contains(#""reason":"long""#))
        }
        let batch = try live.send("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"a"},\#(long)]}"#)
        #expect(batch.head.hasPrefix("HTTP/1.1 413"))
        #expect(String(decoding: batch.body, as: UTF8.self).contains("long"))
        let deep = #"{"a":"# + String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000) + "}"
        #expect(try live.send("PUT", "/db/deep", deep).head.hasPrefix("HTTP/1.1 4"))
        #expect(try live.send("PUT", "/db/fine", "{}").head.hasPrefix("HTTP/1.1 201"))
    }

    @Test func `stopping lets running requests finish`() throws {
        let live = try LiveServer { $0.stopTimeout = .seconds(120) }
        _ = try live.send("PUT", "/db")
        let (server, stopped) = (live.server, DispatchGroup())
        let writer = try live.connect()
        // The server counts a request for a moment after its answer has come.
        waitUntil { server.load.requests == 0 }
        try server.state.databases.open("db").transaction {
            try writer.write(LiveServer.request("PUT", "/db/a", "{}"))
            waitUntil("the write waits for the transaction") { server.load.requests == 1 }
            DispatchQueue.global().async(group: stopped) { server.stop() }
            waitUntil("the server stops") { (try? live.connect()) == nil }
        }
        #expect(try writer.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        stopped.wait()
    }
}
