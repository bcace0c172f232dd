import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite struct DateValidationTests {
    // SEMANTICS 127
    @Test(arguments: [
        ("2024-02-29", true), ("2024-02-29T08:30:06Z", true), ("2024-02-29T08:30", true),
        ("2024-02-29 08:30:06.25", true),
        ("2024-02-29T08:30:06+01:00", true), ("2024-02-29T08:30:06-0130", true), ("2024-02-29T08:30:06+01", true),
        ("2023-02-29", false), ("yesterday", false), ("2024-13-01", false), ("2024-1-1", false), ("", false),
        ("2024-02-29T", false), ("2024-02-29T25:00", false), ("2024-02-29T08:30Zulu", false),
        ("2024-02-29T08:30:06.", false),
    ])
    func `a member that is not a date is refused, with its value`(text: String, isDate: Bool) throws {
        try withTemporaryDatabase(.plain) { database in
            database.addValidation("dates") { try $0.requireDates("created_at", "due") }
            let document = Document(id: "a", body: try DocumentBody(["created_at": .string(text)]))
            if isDate {
                try database.save(document, onConflict: .fail)
            } else {
                let error = #expect(throws: DatabaseError.self) { try database.save(document, onConflict: .fail) }
                let refusal = try #require(error?.cause as? DocumentRejection)
                #expect(refusal.status == 403)
                #expect(refusal.message == "'created_at' is not an ISO 8601 date: \(JSONValue.string(text))")
            }
        }
    }

    // SEMANTICS 127
    @Test func `an absent member and a deletion pass, and a number does not`() throws {
        try withTemporaryDatabase(.plain) { database in
            database.addValidation("dates") { try $0.requireDates("created_at") }
            try database.save(Document(id: "a", body: ["n": 1]), onConflict: .fail)
            try database.save(Document(id: "b", body: ["created_at": nil]), onConflict: .fail)
            #expect(throws: DatabaseError.self) {
                try database.save(Document(id: "c", body: ["created_at": 5]), onConflict: .fail)
            }
            try database.delete("a")
        }
    }
}
