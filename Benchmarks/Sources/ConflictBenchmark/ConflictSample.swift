import Settle
import SettleCore
import SettleDatabase

/// A document of about 500 bytes, edited concurrently on two devices: different members on each; every fifth document
/// has a member that both changed.
struct ConflictSample {
    let id: DocumentID
    let base: DocumentBody
    let here: DocumentBody
    let there: DocumentBody

    init(_ number: Int) throws {
        id = try DocumentID(validating: "doc-\(1_000_000 + number)")
        var members = JSONObject([
            ("type", "note"), ("number", .number(JSONNumber(number))), ("title", .string("Note number \(number)")),
            ("created", "2026-01-02T03:04:05Z"), ("rating", .number(JSONNumber(number % 5))),
            ("done", .bool(number % 2 == 0)), ("tags", ["alpha", "bravo"]),
            ("place", .object(JSONObject([("lat", 52), ("lon", 13), ("name", "Berlin")]))),
            ("text", .string(String(repeating: "All is well here. ", count: 16))), ("owner", "Anna"), ("views", 1),
        ])
        base = try DocumentBody(.object(members))
        let before = members
        members["title"] = .string("Note \(number), edited here")
        members["done"] = .bool(number % 2 != 0)
        members["views"] = 3
        here = try DocumentBody(.object(members))
        members = before
        members["rating"] = .number(JSONNumber(number % 5 + 1))
        members["place"] = .object(JSONObject([("lat", 48), ("lon", 13), ("name", "Passau")]))
        members["seen"] = "2026-02-03T04:05:06Z"
        if number % 5 == 0 { members["views"] = 2 }
        there = try DocumentBody(.object(members))
    }

    /// The edit of the other device, as a replicated revision.
    func incoming(on base: RevisionID) throws -> ReplicatedRevision {
        let revision = RevisionHasher().revision(of: there, parent: base, isDeleted: false, attachments: [])
        let history = try RevisionHistory(
            start: revision.generation, signatures: [revision.signature, base.signature])
        return ReplicatedRevision(id: id, history: history, body: there)
    }
}
