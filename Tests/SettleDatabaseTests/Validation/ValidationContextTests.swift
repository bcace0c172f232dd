import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct ValidationContextTests {
    private func check(
        _ old: DocumentBody?, _ new: DocumentBody, _ validation: @escaping DocumentValidation
    ) throws -> DocumentRejection? {
        try withTemporaryDatabase(.plain) { database in
            if let old { try database.add("a", old) }
            database.addValidation("test", validation)
            do {
                try database.save(Document(id: "a", body: new), onConflict: .lastWriteWins)
                return nil
            } catch let error as DatabaseError { return error.cause as? DocumentRejection }
        }
    }

    // SEMANTICS 121
    @Test func `changed keys are the changed, the added and the removed ones`() throws {
        let keys = Log<Set<String>>()
        _ = try check(["same": [1], "changed": 1, "removed": 1], ["same": [1], "changed": 1.0, "added": nil]) {
            keys.add($0.changedKeys)
        }
        _ = try check(nil, ["a": 1, "b": 2]) { keys.add($0.changedKeys) }
        #expect(keys.values == [["changed", "removed", "added"], ["a", "b"]])
    }

    // SEMANTICS 122
    @Test func `a forbidden change is refused by the member's name`() throws {
        let refused = try check(["owner": "me", "x": 1], ["owner": "you", "x": 1]) {
            try $0.disallowChanges(to: ["owner", "type"])
        }
        #expect(refused?.message == "The 'owner' property may not be changed")
        #expect(refused?.status == 403)
        #expect(try check(["owner": "me"], ["owner": "me", "x": 2]) { try $0.disallowChanges(to: ["owner"]) } == nil)
    }

    // SEMANTICS 122
    @Test func `a change to any but the allowed members is refused`() throws {
        let refused = try check(["a": 1, "b": 1], ["a": 2, "b": 2]) { try $0.allowOnlyChanges(to: ["a"]) }
        #expect(refused?.message == "The 'b' property may not be changed")
        #expect(try check(["a": 1, "b": 1], ["a": 2, "b": 1]) { try $0.allowOnlyChanges(to: ["a"]) } == nil)
    }

    @Test func `a change of a member whose name only looks like an allowed one is refused`() throws {
        // The same letter as one character, and as two.
        let old: DocumentBody = ["\u{E9}": 1, "e\u{301}": 1]
        for new in [["\u{E9}": 1, "e\u{301}": 2], ["\u{E9}": 2, "e\u{301}": 2]] as [DocumentBody] {
            #expect(try check(old, new) { try $0.allowOnlyChanges(to: ["\u{E9}"]) } != nil)
        }
        #expect(try check(old, ["\u{E9}": 2, "e\u{301}": 1]) { try $0.allowOnlyChanges(to: ["\u{E9}"]) } == nil)
        let seen = Log<[UInt8]>()
        _ = try check(old, ["\u{E9}": 2, "e\u{301}": 2]) { context in
            try context.validateChanges { name, _, _ in
                seen.add(Array(name.utf8))
                return true
            }
        }
        #expect(seen.values == [Array("e\u{301}".utf8), Array("\u{E9}".utf8)])
    }

    // SEMANTICS 122
    @Test func `enumerating changes stops at the first refused change`() throws {
        let seen = Log<String>()
        let refused = try check(["a": 1, "b": 1, "c": 1], ["a": 2, "b": 2, "d": 2]) { context in
            try context.validateChanges { name, old, new in
                seen.add("\(name) \(old?.description ?? "-") \(new?.description ?? "-")")
                return name != "c"
            }
        }
        #expect(seen.values == ["a 1 2", "b 1 2", "c 1 -"])
        #expect(refused?.message.contains("'c'") == true)
    }

    // SEMANTICS 127
    @Test(arguments: [
        (DocumentBody(dictionaryLiteral: ("x", 1)), true),
        (DocumentBody(dictionaryLiteral: ("created_at", "2014-02-03T10:00:00Z")), true),
        (DocumentBody(dictionaryLiteral: ("created_at", "yesterday")), false),
    ])
    func `the guide's date rule applies to saves and replicated revisions`(body: DocumentBody, isFine: Bool) throws {
        try withTemporaryDatabase(.plain) { database in
            database.addValidation("date") { context in
                guard let date = context.newRevision["created_at"]?.string else { return }
                if date.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)/) == nil {
                    throw DocumentRejection(message: "invalid date \(date)")
                }
            }
            do {
                try database.save(Document(id: "a", body: body), onConflict: .fail)
                #expect(isFine)
            } catch let error as DatabaseError {
                #expect(!isFine && error.code == .refused)
                #expect((error.cause as? DocumentRejection)?.message == "invalid date yesterday")
            }
            let outcomes = try database.insertReplicated([peer("b", path("1-b"), body)])
            #expect(outcomes.map(\.word) == [isFine ? "stored" : "refused"])
            for id: DocumentID in ["a", "b"] { #expect(try database.document(id)?.body() == (isFine ? body : nil)) }
        }
    }

    // SEMANTICS 115, 123, K17
    @Test func `the older forms refuse with their status and the first message`() throws {
        let old = ValidationAdapter.returning { _, response in
            response.errorType = 401
            response.errorMessage = "first"
            response.errorMessage = "second"
            return false
        }
        #expect(try check(nil, .empty, old) == DocumentRejection(status: 401, message: "first"))
        let plain = ValidationAdapter.returning { _, _ in false }
        #expect(try check(nil, .empty, plain) == DocumentRejection(status: 403, message: "invalid document"))
        let named = ValidationAdapter.returning { context, response in
            response.errorMessage = "mine"
            return response.disallowChanges(to: ["v"], in: context)
        }
        #expect(try check(["v": 1], ["v": 2], named)?.message == "mine")
        #expect(try check(["v": 1], ["v": 1], named) == nil)
        let unnamed = ValidationAdapter.returning { $1.disallowChanges(to: ["v"], in: $0) }
        #expect(try check(["v": 1], ["v": 2], unnamed)?.message == "The 'v' property may not be changed")
        let later = ValidationAdapter.rejecting { _, response in response.reject("go away") }
        #expect(try check(nil, .empty, later)?.message == "go away")
        #expect(try check(nil, .empty, ValidationAdapter.rejecting { _, _ in }) == nil)
    }
}
