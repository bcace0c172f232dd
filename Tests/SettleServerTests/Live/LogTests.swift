import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct LogTests {
    @Test func `a request is one line, without its secrets`() throws {
        let room = try LogRoom()
        let server = try LiveServer { $0.log = try? room.open(.json) }
        #expect(try server.send("GET", "/_session?password=hush1&hush2&limit=1").head.contains("200"))
        let connection = try server.connect()
        try connection.write(
            "GET /nope/http:%2F%2Fanna:hush3@host/x?rev=1-a HTTP/1.1\r\nHost: hush4\r\nCookie: AuthSession=hush5\r\n"
                + "Authorization: Basic \(Data("admin:admin".utf8).base64EncodedString())\r\n\r\n")
        _ = try connection.readAnswer()
        let failing = try server.connect()
        try failing.write(
            "GET /_all_dbs HTTP/1.1\r\nHost: x\r\nAuthorization: Basic \(Data("hush6:hush7".utf8).base64EncodedString())\r\n\r\n"
        )
        _ = try failing.readAnswer()
        _ = try server.send("POST", "/_session", #"{"name": "hush8", "password": "hush9"}"#)
        let lines = try room.lines(4)
        let text = lines.joined()
        #expect(!text.contains("hush") && !text.contains("AuthSession") && !text.contains("Basic"))
        let values = try lines.map { try JSONValue(parsing: $0) }
        let first = try #require(values.first { $0["path"]?.string?.hasPrefix("/_session?") == true })
        #expect(first["path"] == "/_session?*&*&limit=1" && first["status"] == 200 && first["method"] == "GET")
        #expect(first["remote"] == "127.0.0.1" && first["user"] == "admin" && first["id"]?.string?.count == 10)
        #expect(first["bytes"]?.int ?? 0 > 20 && first["seconds"]?.double ?? -1 >= 0)
        let second = try #require(values.first { $0["path"]?.string?.hasPrefix("/nope") == true })
        #expect(
            second["path"] == "/nope/http:%2F%2F*@host/x?rev=1-a" && second["status"] == 400
                && second["user"]?.isNull == true)
    }

    @Test func `a message is one line, whatever it contains`() throws {
        let room = try LogRoom()
        let log = try room.open(.text)
        log.request(
            RequestRecord(
                target: RequestTarget("/a\nb?rev=%0A\"x"), method: "G\"E T", peer: "", id: nil, user: "a\u{2028} -",
                status: nil,
                bytes: 0, duration: .milliseconds(1500), isCut: true))
        log.close()
        let lines = try room.lines(1)
        let words = lines[0].dropFirst(25)
        #expect(
            words == #"- - "a\u2028 -" "G\"E T" "/a\u000ab?rev=%0A%22x" - 0 1.5 cut=true"#, "\(lines[0])")
        #expect(lines[0].prefix(25).wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /#) != nil)
    }

    @Test func `a file that was moved away is opened again`() throws {
        let room = try LogRoom()
        let log = try room.open(.text)
        log.notice("one", ["url": "http://anna:hush@host/"])
        _ = try room.lines(1)
        try FileManager.default.moveItem(atPath: room.path, toPath: room.path + ".1")
        log.reopen()
        log.notice("two")
        log.close()
        #expect(try room.lines(1)[0].hasSuffix("notice two"))
        let old = try String(contentsOfFile: room.path + ".1", encoding: .utf8)
        #expect(old.contains("notice one url=http://*@host/") && !old.contains("two"))
    }

    @Test func `a blocked pipe does not block requests, and dropped lines are counted`() throws {
        let pipe = Pipe()
        let file = try LogFile(.descriptor(pipe.fileHandleForWriting.fileDescriptor), bound: 100_000) { count in
            Array("dropped \(count)\n".utf8)
        }
        let line = Array((String(repeating: "x", count: 999) + "\n").utf8)
        // No process reads yet, so a blocking write would never return.
        for _ in 0..<2000 { file.write(line) }
        let told = Mailbox()
        Thread.detachNewThread {
            while told.lines + told.dropped < 2000 {
                told.take(pipe.fileHandleForReading.availableData)
            }
        }
        waitUntil { told.lines + told.dropped >= 2000 }
        #expect(told.dropped > 1000 && told.lines + told.dropped == 2000)
        file.close()
    }

    @Test func `a failure that a program in the process gets as an error is not logged, too`() async throws {
        let (room, folder) = (try LogRoom(), try TemporaryFolder())
        let log = try room.open(.text)
        let database = try Database.create(folder("db.settle"))
        let server = try InProcessServer(database, name: "db", scripts: nil, log: log)
        defer { server.close() }
        try database.suspend()
        let error = await #expect(throws: DatabaseError.self) {
            try await server.send(HTTPRequest("GET", server.url.appending("a")))
        }
        #expect(error?.code == .suspended)
        // The lines come in order.
        log.notice("last")
        let lines = try room.lines(1)
        #expect(lines.count == 1 && lines[0].hasSuffix("notice last"), "\(lines)")
        log.close()
    }

    @Test func `a log that can't be opened is reported`() {
        #expect(throws: (any Error).self) { try ServerLog(requests: .file("/nowhere/at/all.log")) }
    }
}

/// A folder with a log in it.
final class LogRoom {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "settle-log-\(UUID().uuidString)")
    var path: String { folder.appending(path: "log").path }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func open(_ format: LogFormat) throws -> ServerLog {
        try ServerLog(format: format, events: .file(path), requests: .file(path))
    }

    /// The lines of the log, once there are `count`.
    func lines(_ count: Int) throws -> [String] {
        var text = ""
        var lines: [String] { text.split(separator: "\n").map(String.init) }
        waitUntil("the log has \(count) lines") {
            text = try String(contentsOfFile: path, encoding: .utf8)
            return lines.count >= count && text.hasSuffix("\n")
        }
        guard lines.count >= count else { throw CocoaError(.fileReadUnknown) }
        return lines
    }

    /// The log, once it has a line with this text. Lines about what happens between requests may come after the answers that show it.
    func text(containing part: String) -> String {
        var text = ""
        waitUntil("the log contains \(part)") {
            text = try String(contentsOfFile: path, encoding: .utf8)
            return text.contains(part) && text.hasSuffix("\n")
        }
        return text
    }
}

/// Bytes that one thread appends and another one reads; guarded by the lock.
private final class Mailbox: @unchecked Sendable {
    private let lock = NSLock()
    private var rest: [UInt8] = []
    private var counts = (lines: 0, dropped: 0)
    /// How many lines the log has.
    var lines: Int { lock.withLock { counts.lines } }
    /// How many lines were dropped, by the notes in the log.
    var dropped: Int { lock.withLock { counts.dropped } }

    /// Appends bytes; a line counts once it is complete.
    func take(_ bytes: Data) {
        lock.withLock {
            rest += bytes
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = rest[..<end]
                if line.first == UInt8(ascii: "x") {
                    counts.lines += 1
                } else {
                    counts.dropped += Int(String(decoding: line.dropFirst(8), as: UTF8.self)) ?? 0
                }
                rest.removeFirst(end + 1)
            }
        }
    }
}
