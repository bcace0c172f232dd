import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseValidationTests {
    // SEMANTICS 114, 118, 119
    @Test(arguments: Kinds.all)
    func `every write is validated, with the existing revision`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let seen = Log<String>()
            database.addValidation("log") { context in
                let (new, current) = (context.newRevision, context.currentRevision)
                let words = [
                    new["v"]?.description ?? "-", new.isDeleted ? "deleted" : "live",
                    current?["v"]?.description ?? (current == nil ? "nothing" : "-"),
                    context.origin == .local ? "local" : "peer",
                ]
                seen.add(words.joined(separator: " "))
            }
            try database.add("a")
            try database.set("a", "v", 2)
            try database.delete("a")
            try database.insertReplicated([peer("b", try path("1-a"), ["v": 5])])
            try database.insertReplicated([peer("b", try path("2-b", "a"), isDeleted: true)])
            try database.saveAll([Document(id: "c", body: ["v": 9])], onConflict: .fail)
            #expect(
                seen.values == [
                    "1 live nothing local", "2 live 1 local", "- deleted 2 local", "5 live nothing peer",
                    "- deleted 5 peer", "9 live nothing local",
                ])
        }
    }

    // SEMANTICS 115, 116
    @Test(arguments: Kinds.all)
    func `a refusal reaches the caller with status and message, and nothing is written`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            database.addValidation("no") { _ in throw DocumentRejection() }
            database.addValidation("later") { _ in throw DocumentRejection(status: 401, message: "who are you") }
            let attachment = try database.makeAttachment("x", content: [1])
            let error = #expect(throws: DatabaseError.self) {
                try database.save(Document(id: "a", attachments: [attachment]), onConflict: .lastWriteWins)
            }
            #expect(error?.code == .refused)
            #expect(error?.cause as? DocumentRejection == DocumentRejection(status: 401, message: "who are you"))
            database.removeValidation("later")
            let plain = #expect(throws: DatabaseError.self) { try database.add("a") }
            #expect(plain?.cause as? DocumentRejection == DocumentRejection(status: 403, message: "invalid document"))
            #expect(try database.lastSequence() == 0)
            #expect(try database.info().blobs == 0)
            database.removeValidation("no")
            try database.add("a")
        }
    }

    // SEMANTICS 120
    @Test(arguments: Kinds.all)
    func `a deletion can be refused for the content it deletes`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            database.addValidation("done first") { context in
                if context.newRevision.isDeleted, context.currentRevision?["completed"] != true {
                    throw DocumentRejection(message: "not completed")
                }
            }
            try database.add("a", ["completed": false])
            #expect(code { try database.delete("a") } == .refused)
            try database.set("a", "completed", true)
            #expect(try database.delete("a") != nil)
        }
    }

    // SEMANTICS 118
    @Test(arguments: Kinds.all)
    func `a save over a tombstone sees the tombstone as current`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a")
            try database.delete("a")
            let seen = Log<Bool?>()
            database.addValidation("log") { seen.add($0.currentRevision?.isDeleted) }
            try database.add("a")
            #expect(seen.values == [true])
        }
    }

    // SEMANTICS 124
    @Test(arguments: Kinds.all)
    func `the first refusal decides, and an error of another kind refuses and is logged`(kind: DatabaseKind) throws {
        let warnings = Log<String>()
        var options = DatabaseOptions()
        options.warn = { warnings.add($0) }
        try withTemporaryDatabase(kind, options: options) { database in
            let asked = Log<String>()
            database.addValidation("3") { _ in asked.add("3") }
            database.addValidation("1") { _ in asked.add("1") }
            database.addValidation("2") { _ in
                asked.add("2")
                throw Nonsense()
            }
            let error = #expect(throws: DatabaseError.self) { try database.add("a") }
            #expect(asked.values == ["1", "2"])
            #expect(error?.code == .refused)
            #expect((error?.cause as? DocumentRejection)?.status == 500)
            #expect(warnings.values.count == 1)
            #expect(warnings.values.first?.contains("Nonsense") == true)
        }
    }

    // SEMANTICS 125
    @Test func `validations are not stored in the file`() throws {
        let temporary = try TemporaryDatabase(.file)
        temporary.database.addValidation("no") { _ in throw DocumentRejection() }
        #expect(code { try temporary.database.add("a") } == .refused)
        try temporary.reopen()
        #expect(code { try temporary.database.add("a") } == nil)
    }

    // SEMANTICS 117
    @Test(arguments: Kinds.all)
    func `a refusal in a batch is in its place and the others are stored`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            database.addValidation("b") { if $0.newRevision.id == "b" { throw DocumentRejection() } }
            let batch = ["a", "b", "c"].map { Document(id: $0) }
            let codes = try database.saveAll(batch, onConflict: .fail).map { row in code { try row.get() } }
            #expect(codes == [nil, .refused, nil])
            #expect(try database.documents().map(\.id) == ["a", "c"])
        }
    }
}
