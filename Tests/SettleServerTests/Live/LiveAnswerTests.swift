import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Properties of every answer: an id, a server, a valid status.
@Suite struct LiveAnswerTests {
    private func id(_ live: LiveServer, _ given: String) throws -> String? {
        let connection = try live.connect()
        try connection.write("GET / HTTP/1.1\r\nHost: test\r\nX-Couch-Request-ID: \(given)\r\n\r\n")
        let head = try connection.readAnswer().head
        let line = head.split(separator: "\r\n").first { $0.hasPrefix("X-Couch-Request-ID: ") }
        return line.map { String($0.dropFirst(20)) }
    }

    @Test(arguments: ["a", "6f1c9c1e-0000-4000-8000-00c04fd430c8", "A_b-9", String(repeating: "x", count: 36)])
    func `a client's request id is returned`(given: String) throws {
        #expect(try id(LiveServer(), given) == given)
    }

    @Test(arguments: [
        String(repeating: "x", count: 37), "a b", "a.b", "a\"b", "a;b", "\u{E9}", "a/b", "", "\u{1}", "<script>",
    ])
    func `a malformed request id is replaced by one of the server`(given: String) throws {
        let own = try id(LiveServer(), given)
        #expect(own == nil ? given == "\u{1}" : own?.count == 10 && own != given)
    }

    @Test func `the Server header names CouchDB's version, and then the program`() throws {
        let head = try LiveServer().send("GET", "/").head
        let line = head.split(separator: "\r\n").first { $0.hasPrefix("Server: ") }
        #expect(line?.hasPrefix("Server: CouchDB/3.5.0 (Settle/") == true, "\(head)")
    }

    @Test(arguments: ["/_nothing", "/db/_nothing/x/y", "/_node", "/db/_design", "/_cluster_setup/x"])
    func `an unknown endpoint requires authentication where every endpoint does`(path: String) throws {
        let live = try LiveServer { $0.security.anonymousAccess = .nowhere }
        let request = { (credentials: String) in
            let connection = try live.connect()
            try connection.write(Array("GET \(path) HTTP/1.1\r\nHost: x\r\n\(credentials)\r\n".utf8))
            return try connection.readAnswer().head.dropFirst(9).prefix(3)
        }
        #expect(try request("") == "401")
        #expect(try request("Authorization: Basic YWRtaW46d3Jvbmc=\r\n") == "401")
        #expect(try request("Authorization: Basic YWRtaW46YWRtaW4=\r\n") != "401")
    }

    @Test(arguments: [1020, 1021, 1022, 1023, 1024, 1025, 1026])
    func `the depth limit of a document is the same for every way of writing`(depth: Int) throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        // The document itself is the first level.
        let rest = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
        let answers = [
            try live.send("PUT", "/db/a", #"{"v":\#(rest)}"#),
            try live.send("POST", "/db", #"{"_id":"b","v":\#(rest)}"#),
            try live.send("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"c","v":\#(rest)}]}"#),
            try live.send(
                "POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[{"_id":"d","_rev":"1-a","v":\#(rest)}]}"#),
        ]
        for answer in answers {
            #expect(
                answer.head.hasPrefix(depth <= 1024 ? "HTTP/1.1 201" : "HTTP/1.1 400"),
                "\(answer.head) \(String(decoding: answer.body.prefix(300), as: UTF8.self))")
        }
        guard depth <= 1024 else { return }
        for path in ["/db/_all_docs?include_docs=true", "/db/_changes?include_docs=true", "/db/a?open_revs=all"] {
            let answer = try live.send("GET", path)
            #expect(
                answer.head.hasPrefix("HTTP/1.1 200") && String(decoding: answer.body, as: UTF8.self).contains(rest))
        }
    }

    @Test(arguments: [100, 101, 102, 199, 0, 600, 999, -1, 1_000_000])
    func `an invalid status is a server error`(
        status: Int
    ) throws {
        let warnings = Guarded<[String]>([])
        var options = ListenerOptions()
        options.port = 0
        options.warn = { text in warnings.withLock { $0.append(text) } }
        let transport = try MicroHTTPDListener(
            options,
            handler: HTTPHandler(
                plan: { _ in .work { HTTPResponse(status: status, body: .bytes([0x78])) } }))
        defer { transport.stop(within: 1) }
        let connection = try RawConnection(port: transport.port)
        for _ in 0..<2 {
            try connection.write(LiveServer.request("GET", "/"))
            let answer = try connection.readAnswer()
            #expect(answer.head.hasPrefix("HTTP/1.1 500"))
            #expect(String(decoding: answer.body, as: UTF8.self).contains("unknown_error"))
        }
        #expect(warnings.withLock { $0 }.contains { $0.contains("\(status)") })
    }
}
