import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// The server answers the requests in `Fixtures` over a socket like the recorded CouchDB 3.5.
///
/// `Scripts/couchdb/record-exchanges.py` recorded them. The larger corpus of ``ConformanceTests`` is not in the repository.
struct RecordedExchangeTests {
    private static func steps() throws -> [JSONValue] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/couchdb-exchanges.json")
        return try #require(try JSONValue(utf8: [UInt8](Data(contentsOf: file)))["steps"]?.array)
    }

    @Test func `the recorded answers of a CouchDB are the server's`() throws {
        let live = try LiveServer()
        #expect(try live.send("PUT", "/recorded").head.hasPrefix("HTTP/1.1 201"))
        let steps = try Self.steps()
        #expect(steps.count > 70)
        for step in steps {
            let name = try #require(step["name"]?.string)
            let (head, body) = try send(step, to: live)
            #expect(head.split(separator: " ").dropFirst().first == "\(step["status"] ?? .null)", "\(name)")
            if let tag = step["etag"]?.string { #expect(head.contains("ETag: \(tag)\r\n"), "\(name)") }
            let text = String(decoding: body, as: UTF8.self)
            guard let expected = step["json"] else {
                #expect(step["body"]?.string == Data(body).base64EncodedString(), "\(name)")
                continue
            }
            let isSame = try Recorded(expected, isUnordered: step["unordered"] == true).matches(
                JSONValue(parsing: text))
            #expect(isSame, "\(name): \(text), but CouchDB \(expected)")
        }
    }

    private func send(_ step: JSONValue, to live: LiveServer) throws -> (head: String, body: [UInt8]) {
        let data = try step["base64"]?.string.map { try #require(Data(base64Encoded: $0)) }
        let body = step["text"]?.string.map { Array($0.utf8) } ?? data.map { [UInt8]($0) }
        let method = try #require(step["method"]?.string)
        let path = "/recorded" + (step["path"]?.string ?? "")
        var head = "\(method) \(path) HTTP/1.1\r\nHost: test\r\nAccept: application/json\r\n"
        for header in step["headers"]?.object ?? [:] { head += "\(header.name): \(header.value.string ?? "")\r\n" }
        if let body {
            let type = step["base64"] == nil ? "application/json" : "application/octet-stream"
            head += "Content-Type: \(type)\r\nContent-Length: \(body.count)\r\n"
        }
        let connection = try live.connect()
        try connection.write(head + "\r\n")
        try connection.write(body ?? [])
        return try connection.readAnswer()
    }

    @Test(arguments: [
        (#"{"a":1,"seq":"*"}"#, #"{"seq":"7-x","a":1}"#, false, true), (#"{"a":1}"#, #"{"a":1.0}"#, false, false),
        (#"{"a":1}"#, #"{"a":1,"b":2}"#, false, false), (#"{"a":1,"b":2}"#, #"{"a":1}"#, false, false),
        ("[1,2]", "[2,1]", false, false), ("[1,2]", "[2,1]", true, true), ("[1,1,2]", "[1,2,2]", true, false),
        (#"{"name":"{db}"}"#, #"{"name":"recorded"}"#, false, true), (#"["*"]"#, "[]", false, false),
    ])
    func `a recording tolerates differences only where they are allowed`(
        recorded: String, answer: String, isUnordered: Bool, isSame: Bool
    ) throws {
        let recording = Recorded(try JSONValue(parsing: recorded), isUnordered: isUnordered)
        #expect(try recording.matches(JSONValue(parsing: answer)) == isSame)
    }
}

/// A recorded answer, in which `"*"` stands for any value and `{db}` for the database's name.
private struct Recorded {
    private let value: JSONValue
    private let isUnordered: Bool

    init(_ value: JSONValue, isUnordered: Bool) { (self.value, self.isUnordered) = (value, isUnordered) }

    func matches(_ answer: JSONValue) -> Bool { matches(value, answer) }

    private func matches(_ recorded: JSONValue, _ answer: JSONValue) -> Bool {
        switch (recorded, answer) {
        case ("*", _): return true
        case ("{db}", _): return answer == "recorded"
        case (.object(let members), .object(let others)):
            return members.count == others.count
                && members.allSatisfy { member in others[member.name].map { matches(member.value, $0) } ?? false }
        case (.array(let elements), .array(var others)):
            guard elements.count == others.count else { return false }
            guard isUnordered else { return zip(elements, others).allSatisfy(matches) }
            return elements.allSatisfy { element in
                guard let found = others.firstIndex(where: { matches(element, $0) }) else { return false }
                others.remove(at: found)
                return true
            }
        default: return recorded == answer
        }
    }
}
