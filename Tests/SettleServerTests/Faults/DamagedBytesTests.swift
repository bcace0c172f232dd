import Foundation
import Settle
import SettleDatabase
import SettleTesting
import Testing

@testable import SettleServer

/// A server whose stored bytes changed by themselves while it was down.
@Suite struct DamagedBytesTests {
    private let folder: TemporaryFolder
    private static let content = String(repeating: "all is well. ", count: 20_000)

    init() throws { folder = try TemporaryFolder() }

    /// Makes databases with one server, changes their bytes, and starts another one.
    private func damaged(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> LiveServer {
        do {
            let live = try LiveServer(in: folder)
            for path in ["/db", "/target"] { #expect(try live.send("PUT", path).head.contains(" 201 ")) }
            for id in ["k", "m"] {
                #expect(
                    try live.send("PUT", "/db/\(id)", #"{"pay":1\#(id == "m" ? "000" : "")}"#).head.contains(" 201 "))
            }
            let connection = try live.connect()
            try connection.write(
                "PUT /db/a/film HTTP/1.1\r\nHost: test\r\nContent-Type: application/octet-stream\r\n"
                    + "Content-Length: \(Self.content.utf8.count)\r\n\r\n" + Self.content)
            #expect(try connection.readAnswer().head.contains(" 201 "))
        }
        // Closing leaves a short log as it is, and a damaged log is another matter.
        let database = try Database.open(folder.path + "/db.settle")
        try database.compact()
        database.close()
        let files =
            FileManager.default.enumerator(atPath: folder.path + "/db.settle")?.compactMap { $0 as? String } ?? []
        for file in files {
            let url = URL(filePath: folder.path + "/db.settle/" + file)
            guard var data = try? Data(contentsOf: url) else { continue }
            for (old, new) in [(#""pay":1000"#, #""pay":9000"#), ("all is well", "all is evil")] {
                guard let range = data.range(of: Data(old.utf8)) else { continue }
                data.replaceSubrange(range, with: Data(new.utf8))
            }
            try data.write(to: url)
        }
        return try LiveServer(in: folder, change)
    }

    @Test func `a damaged document is an error and is not replicated`() throws {
        let live = try damaged()
        let answer = try live.send("GET", "/db/m")
        #expect(answer.head.contains(" 500 "))
        #expect(String(decoding: answer.body, as: UTF8.self).contains("damaged_document"))
        #expect(try live.send("GET", "/db/k").head.contains(" 200 "))
        let listed = String(decoding: try live.send("GET", "/db/_all_docs?include_docs=true").body, as: UTF8.self)
        #expect(listed.contains(#""error":"damaged_document""#))
        #expect(!listed.contains("9000"))
        let feed = String(decoding: try live.send("GET", "/db/_changes?include_docs=true").body, as: UTF8.self)
        #expect(!feed.contains("9000"))
        let source = "http://admin:admin@127.0.0.1:\(live.port)/db"
        let replicated = try live.send(
            "POST", "/_replicate",
            #"{"source":"\#(source)","target":"http://admin:admin@127.0.0.1:\#(live.port)/target"}"#)
        #expect(!String(decoding: replicated.body, as: UTF8.self).contains("9000"))
        #expect(try live.send("GET", "/target/m").head.contains(" 404 "))
    }

    @Test func `a damaged attachment is cut off before its end`() throws {
        let live = try damaged()
        let connection = try live.connect()
        try connection.write(LiveServer.request("GET", "/db/a/film"))
        let (text, ending) = connection.readToEnding()
        #expect(text.contains("Content-Length: \(Self.content.utf8.count)"))
        #expect(text.utf8.count < Self.content.utf8.count)
        #expect(ending != nil)
    }

    @Test func `a scrub counts what it reads and finds`() throws {
        let live = try damaged()
        let pool = live.server.state.databases
        let scrubber = Scrubber(
            pool, Scrubber.Pace(interval: .seconds(60), pauses: 0, look: .milliseconds(10)), log: nil)
        scrubber.start()
        defer { scrubber.stop() }
        waitUntil("all databases are scrubbed") { number("scrub_databases", of: scrubber) >= 4 }
        #expect(number("scrub_databases", of: scrubber) == 4)
        #expect(number("scrub_problems", of: scrubber) == 2)
        #expect(number("scrub_attachments", of: scrubber) == 1)
    }

    private func number(_ name: String, of scrubber: Scrubber) -> Int {
        scrubber.metrics.first { $0.path.last == name }?.values.first?.value ?? 0
    }

    @Test(arguments: [.seconds(3600), .seconds(Int64.max)] as [Duration])
    func `a database that is not due is not opened again`(interval: Duration) throws {
        let pool = DatabasePool(store: try DocumentStore(path: folder.path), limit: 8)
        for name in ["a", "b", "c"] { try pool.create(name) }
        let scrubber = Scrubber(
            pool, Scrubber.Pace(interval: interval, pauses: 0, look: .milliseconds(10)), log: nil)
        scrubber.start()
        defer { scrubber.stop() }
        waitUntil { number("scrub_databases", of: scrubber) == 3 }
        pool.closeAll()
        // A new one is due at once. A look comes to it last, and has passed the others.
        try pool.create("d")
        waitUntil("the new one is scrubbed") { number("scrub_databases", of: scrubber) == 4 }
        #expect(pool.open.keys.sorted() == ["d"])
    }

    @Test func `a scrub that was stopped goes on where it was`() throws {
        let count = 150
        let pool = DatabasePool(store: try DocumentStore(path: folder.path), limit: 8)
        defer { pool.closeAll() }
        try pool.create("db")
        for index in 0..<count {
            try pool.open("db").save(Document(id: DocumentID(unchecked: "d\(index)"), body: [:]), onConflict: .fail)
        }
        // A lease this short is noted after each page.
        let lease = Duration.milliseconds(1)
        let first = Scrubber(
            pool,
            Scrubber.Pace(interval: .seconds(3600), pauses: 60, look: .milliseconds(10), page: 1, lease: lease),
            log: nil)
        first.start()
        waitUntil { number("scrub_documents", of: first) >= 5 }
        first.stop()
        let done = number("scrub_documents", of: first)
        #expect(done < count && number("scrub_databases", of: first) == 0)
        let second = Scrubber(
            pool, Scrubber.Pace(interval: .seconds(3600), pauses: 0, look: .milliseconds(10), page: 1, lease: lease),
            log: nil)
        second.start()
        defer { second.stop() }
        waitUntil { number("scrub_databases", of: second) == 1 }
        let rest = number("scrub_documents", of: second)
        #expect(rest < count && done + rest >= count, "\(done) and \(rest)")
    }
}
