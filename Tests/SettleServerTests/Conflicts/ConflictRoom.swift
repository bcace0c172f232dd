import Settle

@testable import SettleServer

/// A client with a database `db` of documents in conflict.
///
///     milk    1-11… ─┬─ 2-bb…  Oat milk, 2, vegan      tea   1-11… ─┬─ 2-cc…  Green tea
///                    ├─ 2-aa…  Milk, 3, fresh, no note              └─ 2-dd…  a deletion
///                    └─ 2-00…  Soy milk
enum ConflictRoom {
    static func revision(_ digit: String) -> String { String(repeating: digit, count: 32) }

    /// A document with its history.
    static func document(
        _ id: String, _ digits: [String], _ members: JSONObject, isDeleted: Bool = false
    ) -> JSONValue {
        var members = members
        members["_id"] = .string(id)
        members["_revisions"] = [
            "start": .number(JSONNumber(digits.count)), "ids": .array(digits.map { .string(revision($0)) }),
        ]
        if isDeleted { members["_deleted"] = true }
        return .object(members)
    }

    static let milk: [JSONValue] = [
        document("milk", ["1"], ["name": "Milk", "count": 1, "note": "low fat", "tags": ["dairy"]]),
        document(
            "milk", ["b", "1"], ["name": "Oat milk", "count": 2, "note": "low fat", "tags": ["dairy", "vegan"]]),
        document("milk", ["a", "1"], ["name": "Milk", "count": 3, "tags": ["dairy", "fresh"]]),
        document("milk", ["0", "1"], ["name": "Soy milk", "count": 1, "note": "low fat", "tags": ["dairy"]]),
    ]
    static let tea: [JSONValue] = [
        document("tea", ["1"], ["name": "Tea"]), document("tea", ["c", "1"], ["name": "Green tea"]),
        document("tea", ["d", "1"], [:], isDeleted: true),
    ]
    static let leaves: JSONValue = .array(["b", "a", "0"].map { .string("2-" + revision($0)) })

    /// Stores revisions, each as if it had come alone.
    static func store(_ documents: [JSONValue], _ client: RouterClient, in database: String = "db") throws {
        for document in documents {
            _ = try client.send(
                "POST", "/\(database)/_bulk_docs", ["new_edits": false, "docs": .array([document])])
        }
    }

    static func client(_ client: RouterClient? = nil) throws -> RouterClient {
        let client = try client ?? RouterClient.withDatabase()
        try store(milk + tea, client)
        return client
    }
}
