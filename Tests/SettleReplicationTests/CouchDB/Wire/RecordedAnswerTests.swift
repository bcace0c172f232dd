import Foundation
import SettleCore
import SettleDatabase
import Testing

@testable import SettleReplication

/// Responses of a real CouchDB, if the recordings are available.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["SETTLE_CONFORMANCE"] != nil,
        "SETTLE_CONFORMANCE names no folder of recordings"))
struct RecordedAnswerTests {

    private struct Exchange {
        let name: String
        let body: JSONValue
        let answer: JSONValue
    }

    /// The successful exchanges with an endpoint in some topics.
    private func exchanges(_ endpoint: String, _ topics: [String]) throws -> [Exchange] {
        let folder = URL(filePath: ProcessInfo.processInfo.environment["SETTLE_CONFORMANCE"] ?? "").appending(
            path: "cases")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
            topics.contains { name.hasPrefix($0 + "--") }
        }
        return try files.flatMap { file -> [Exchange] in
            let value = try JSONValue(utf8: Array(Data(contentsOf: folder.appending(path: file))))
            return (value["steps"]?.array ?? []).compactMap { step in
                guard step["path"]?.string?.hasSuffix(endpoint) == true, step["expect"]?["status"] == 200,
                    let answer = step["expect"]?["json"]
                else { return nil }
                return Exchange(
                    name: "\(file) \(step["name"]?.string ?? "")", body: step["json"] ?? .null, answer: plain(answer))
            }
        }
    }

    /// The recording without its matchers.
    private func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(plain))
        case .object(let members):
            if members.count == 1, let inner = members["$unordered"] ?? members["$literal"] { return plain(inner) }
            if members.count == 1, members.names[0].hasPrefix("$") { return "1-a" }
            return .object(JSONObject(members.map { ($0.name, plain($0.value)) }))
        default: return value
        }
    }

    @Test func `every recorded row of bulk get is read`() throws {
        var documents = 0
        var failures = 0
        for exchange in try exchanges("/_bulk_get", ["bulk-get"]) {
            for row in exchange.answer["results"]?.array ?? [] {
                guard row["id"]?.string != nil else { continue }
                try row.utf8.withUnsafeBufferPointer { text in
                    for entry in try BulkGetAnswer(text).entries {
                        switch entry {
                        case .document(let range):
                            let read = try PeerRevision(answer: UnsafeBufferPointer(rebasing: text[range]))
                            #expect(read.id.string == row["id"]?.string, "\(exchange.name)")
                            documents += 1
                        case .failure: failures += 1
                        }
                    }
                }
            }
        }
        #expect(documents > 10 && failures > 3)
    }

    @Test func `every recorded row of changes is read`() throws {
        var rows = 0
        for exchange in try exchanges("/_changes", ["changes"]) {
            for row in exchange.answer["results"]?.array ?? [] {
                let read = try row.utf8.withUnsafeBufferPointer { try ParsedChange($0, before: .start) }
                #expect(read.change?.leaves.count == row["changes"]?.array?.count, "\(exchange.name)")
                #expect(read.change?.isDeleted == (row["deleted"] == true))
                rows += 1
            }
        }
        #expect(rows > 50)
    }

    @Test func `every recorded answer of revs diff is read`() throws {
        var rows = 0
        for exchange in try exchanges("/_revs_diff", ["revs-diff"]) {
            let asked = (exchange.body.object ?? JSONObject()).compactMap { member -> ChangedDocument? in
                guard let id = try? DocumentID(validating: member.name) else { return nil }
                let leaves = (member.value.array ?? []).compactMap { $0.string.flatMap { RevisionID($0) } }
                return ChangedDocument(sequence: .start, id: id, leaves: leaves)
            }
            let read = try RevisionsDiffAnswer.read(exchange.answer.utf8, asked: asked)
            for row in read {
                let told = exchange.answer[row.id.string]
                #expect(
                    Set(row.missing.map(\.description)) == Set((told?["missing"]?.array ?? []).compactMap(\.string)))
                #expect(row.possibleAncestors.count == told?["possible_ancestors"]?.array?.count ?? 0)
                rows += 1
            }
        }
        #expect(rows > 10)
    }
}
