import PostgresTesting
import Settle
import SettleCore
import SettleDatabase
import Testing

struct ObjectChangesTests {
    private func change(_ name: String, _ value: JSONValue?, _ milliseconds: Int64) throws -> AttributeChange {
        AttributeChange(name, value, at: try #require(AttributeClock(milliseconds: milliseconds, device: "0")))
    }

    @Test func `changes to several attributes of one object are saved together`() throws {
        let database = try Database.plain()
        let count = 20_000
        let changes = try (0..<count).map { try change("n\($0)", .number(JSONNumber($0)), 5) }
        let outcomes = try database.change(
            [ObjectChanges("a", type: ("type", "t"), changes: changes)], believing: AttributeClock.latest)
        guard case .resolved(let resolved) = outcomes.first else {
            Issue.record("the changes were not taken")
            return
        }
        #expect(resolved.changes.count == count)
        let saved = try #require(try database.document("a"))
        #expect(saved["n19999"] == 19_999)
        #expect(saved["$clocks"]?.object?.count == count + 1)
    }

    // SEMANTICS 151
    @Test func `each change in a call sees the attribute as the change before it left it`() throws {
        let database = try Database.plain()
        let changes = try [change("name", "b", 5), change("name", "a", 3), change("name", "c", 7)]
        let outcomes = try database.change(
            [ObjectChanges("a", type: ("type", "t"), changes: changes)], believing: AttributeClock.latest)
        guard case .resolved(let resolved) = outcomes.first else {
            Issue.record("the changes were not taken")
            return
        }
        let texts = resolved.changes.map { outcome in
            switch outcome {
            case .applied: "applied"
            case .superseded(let value, _): "superseded by \(value ?? .null)"
            case .deleted: "deleted"
            }
        }
        #expect(texts == ["applied", #"superseded by "b""#, "applied"])
        #expect(try database.document("a")?["name"] == "c")
    }
}
