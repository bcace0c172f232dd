import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

/// Two devices with two versions of an app edit different fields of the same documents through their models, and lose none.
@Suite(.timeLimit(.minutes(5)))
struct TwoDeviceModelTests {
    /// The model of the version before.
    struct OldOrder: Codable, Identifiable {
        struct Address: Codable { var city: String }
        struct Customer: Codable {
            var name: String
            var address: Address
        }
        var id: String?
        var title: String
        var placed: Date
        var tags: Set<String>
        var customer: Customer
    }

    /// The model of the next version, which knows more.
    struct NewOrder: Codable, Identifiable {
        struct Address: Codable {
            var zip: String
            var floor: Int?
        }
        struct Customer: Codable {
            var phone: String?
            var address: Address
        }
        var id: String?
        var total: Decimal
        var due: Date?
        var flags: [String: Bool]
        var customer: Customer
    }

    private static let seeds = 1000

    /// A document as a third writer has spelled it.
    private func document(_ seed: Int) throws -> Document {
        Document(
            id: try DocumentID(validating: "order-\(seed)"),
            body: try DocumentBody(
                parsing: """
                    {"title":"t\(seed)","placed":"2026-01-01T00:00:00Z","tags":["z","b","a"],"total":1\(seed).50,\
                    "due":"2026-03-01T10:00:00+02:00","flags":{"paid":false,"gift":true},"count":1e2,\
                    "customer":{"name":"n","phone":"1","address":{"city":"Brno","zip":"60200","street":"x"}}}
                    """))
    }

    /// Edits a field at random on the first device; returns its path and the value that is expected.
    private func editOld(_ order: inout OldOrder, _ random: inout SeededRandom) -> ([String], JSONValue) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            order.title = "new"
            return (["title"], "new")
        case 1:
            order.customer.name = "Ada"
            return (["customer", "name"], "Ada")
        case 2:
            order.customer.address.city = "Prague"
            return (["customer", "address", "city"], "Prague")
        default:
            order.tags.insert("new")
            return (["tags"], ["a", "b", "new", "z"])
        }
    }

    /// Edits a field at random on the second device, none of those of the first.
    private func editNew(_ order: inout NewOrder, _ random: inout SeededRandom) -> ([String], JSONValue?) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            order.due = Date(timeIntervalSince1970: 0)
            return (["due"], "1970-01-01T00:00:00.000Z")
        case 1:
            order.customer.phone = nil
            return (["customer", "phone"], nil)
        case 2:
            order.customer.address.zip = "11000"
            return (["customer", "address", "zip"], "11000")
        case 3:
            order.customer.address.floor = 3
            return (["customer", "address", "floor"], 3)
        case 4:
            order.flags["paid"] = true
            return (["flags", "paid"], true)
        default:
            order.total = 7
            return (["total"], 7)
        }
    }

    private func value(_ document: Document?, _ path: [String]) -> JSONValue? {
        path.reduce(document?.json) { $0?[$1] }
    }

    // SEMANTICS 157, 161, 162
    @Test(arguments: [ConflictPolicy.threeWayMerge(), .latestAttributeWins])
    func `different fields edited through models on two devices all arrive, and the others keep their bytes`(
        policy: ConflictPolicy
    ) throws {
        let (first, second) = (try Device(), try Device())
        var random = SeededRandom(seed: 33)
        for seed in 0..<Self.seeds { try first.database.save(document(seed)) }
        try second.database.pull(from: first.database)
        var expected: [(id: DocumentID, old: ([String], JSONValue), new: ([String], JSONValue?))] = []
        for seed in 0..<Self.seeds {
            let id = try DocumentID(validating: "order-\(seed)")
            var (old, new): (([String], JSONValue), ([String], JSONValue?)) = (([], nil), ([], nil))
            // The second device edits first by its clock, so that a member which is only spelled anew would win.
            second.time += 1000
            try second.database.update(id, as: NewOrder.self) { new = editNew(&$0, &random) }
            first.time = second.time + 1000
            if seed.isMultiple(of: 2) {
                var order = try #require(try first.database.document(id, as: OldOrder.self))
                old = editOld(&order.value, &random)
                try first.database.save(&order)
            } else {
                try first.database.update(id, as: OldOrder.self) { old = editOld(&$0, &random) }
            }
            expected.append((id, old, new))
        }
        try first.pull(from: second, by: policy)
        try second.pull(from: first, by: policy)
        #expect(try first.database.conflictedDocumentIDs().isEmpty)
        for (seed, edit) in expected.enumerated() {
            let stored = try first.database.document(edit.id)
            #expect(try stored?.body() == second.database.document(edit.id)?.body())
            #expect(value(stored, edit.old.0) == edit.old.1, "seed \(seed)")
            #expect(value(stored, edit.new.0) == edit.new.1, "seed \(seed)")
            let text = try #require(try stored?.body().description)
            #expect(
                text.contains(#""count":1e2"#) && text.contains(#""placed":"2026-01-01T00:00:00Z""#), "seed \(seed)")
            #expect(text.contains(#""street":"x""#) && text.contains(#""gift":true"#), "seed \(seed)")
        }
    }
}
