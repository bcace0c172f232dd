import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

@Suite struct SchemaValidationTests {
    private static let schema: JSONValue = [
        "type": "object", "required": ["title"],
        "properties": ["title": ["type": "string"], "count": ["type": "integer", "minimum": 0]],
    ]

    // SEMANTICS 126
    @Test(arguments: Kinds.all)
    func `a schema refuses documents that violate it, saved or replicated`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            database.addValidation("note", try JSONSchema(Self.schema).validation())
            let good = try database.save(Document(id: "a", body: ["title": "x", "count": 0]), onConflict: .fail)
            var bad = good
            bad["count"] = -1
            let error = #expect(throws: DatabaseError.self) { try database.save(bad, onConflict: .fail) }
            #expect(error?.code == .refused)
            let refusal = try #require(error?.cause as? DocumentRejection)
            #expect(refusal.status == 403)
            #expect(refusal.message.hasPrefix("/count: minimum: "))
            #expect(try database.document("a") == good)
            let history = RevisionHistory(try RevisionID(validating: "1-x"))
            let outcomes = try database.insertReplicated([ReplicatedRevision(id: "b", history: history, body: ["t": 1])]
            )
            guard case .refused? = outcomes.first else {
                Issue.record("a replicated document without a title was not refused")
                return
            }
        }
    }

    // SEMANTICS 119, 126
    @Test func `deletions, design documents and documents of another type pass`() throws {
        try withTemporaryDatabase(.plain) { database in
            let schema = try JSONSchema(Self.schema)
            database.addValidation("note", schema.validation { $0["type"] == "note" })
            try database.save(Document(id: "other", body: ["type": "task"]), onConflict: .fail)
            try database.save(Document(id: "_design/d", body: ["type": "note"]), onConflict: .fail)
            let note = try database.save(Document(id: "n", body: ["type": "note", "title": "x"]), onConflict: .fail)
            try database.delete(note, onConflict: .fail)
            #expect(try database.document("n") == nil)
            // A tombstone that keeps the type, and not the title that the schema requires.
            let kept = try database.save(Document(id: "k", body: ["type": "note", "title": "x"]), onConflict: .fail)
            try database.delete(kept, keeping: ["type"], onConflict: .fail)
            #expect(try database.document("k") == nil)
            #expect(throws: DatabaseError.self) {
                try database.save(Document(id: "m", body: ["type": "note"]), onConflict: .fail)
            }
        }
    }
}
