import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// Bodies and ids that come from outside and can't be stored: each call throws, none ends the process.
@Suite struct UnstorableDocumentTests {
    /// A body that can't be stored, as an app would make it with a name or a value from outside.
    enum BadBody: String, CaseIterable, CustomTestStringConvertible {
        case reserved, deep, deepArray

        var body: DocumentBody {
            let name = rawValue
            return switch self {
            case .reserved: ["a": 1, "_\(name)": 2]
            case .deep: ["a": 1, name: Self.nested(JSONLimits.depth) { ["inner": $0] }]
            case .deepArray: ["a": 1, name: Self.nested(2 * JSONLimits.depth) { [$0] }]
            }
        }

        /// What its error says.
        var words: [String] {
            switch self {
            case .reserved: ["\"_reserved\"", "another name"]
            case .deep, .deepArray: ["\(JSONLimits.depth) levels", "documents of their own"]
            }
        }

        var cause: JSONError.Code { self == .reserved ? .reservedMember : .tooDeep }
        var testDescription: String { rawValue }

        static func nested(_ levels: Int, _ around: (JSONValue) -> JSONValue) -> JSONValue {
            (0..<levels).reduce(1) { value, _ in around(value) }
        }
    }

    /// A call that would store a body in the document "a".
    struct Call: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let run: @Sendable (DocumentBody, Database) throws -> Void

        init(_ words: String, _ run: @escaping @Sendable (DocumentBody, Database) throws -> Void) {
            (testDescription, self.run) = (words, run)
        }
    }

    static let calls = [
        Call("save a new document") { try $1.save(Document(id: "a", body: $0), onConflict: .fail) },
        Call("save with last write wins") { try $1.save(Document(id: "a", body: $0), onConflict: .lastWriteWins) },
        Call("save a branch") { body, database in
            var document = try #require(try database.document("conflicted"))
            document = Document(
                id: "a", revision: document.revision, isDeleted: false, RevisionContent(body: body))
            try database.save(document, onConflict: .branch)
        },
        Call("save with a handler that merges") { body, database in
            try database.save(
                Document(id: "stored", body: ["n": 2]),
                onConflict: .merge { new, _ in
                    new = Document(id: "stored", body: body)
                    return true
                })
        },
        Call("save many") { _ = try $1.saveAll([Document(id: "a", body: $0)])[0].get() },
        Call("set the body") { body, database in
            var document = try #require(try database.document("stored"))
            document.setBody(body)
            document["more"] = 1
            try database.save(document, onConflict: .fail)
        },
        Call("set a member") { body, database in
            var document = try #require(try database.document("stored"))
            if body.fault?.code == .reservedMember { document["_reserved"] = 1 }
            document["deep"] = BadBody.nested(JSONLimits.depth) { [$0] }
            try database.save(document, onConflict: .fail)
        },
        Call("update") { body, database in try database.update("stored") { $0.setBody(body) } },
        Call("create by an update") { body, database in try database.updateOrCreate("a") { $0.setBody(body) } },
        Call("delete with members") { try $1.delete("stored", adding: $0) },
        Call("write an edit") { body, database in
            _ = try database.write([DocumentEdit(id: "a", parent: nil, body: body)])[0].get()
        },
        Call("store a peer's revision") { body, database in
            if case .refused(let error) = try database.insertReplicated([peer("a", path("1-a"), body)])[0] {
                throw error
            }
        },
        Call("settle a conflict") { body, database in
            try database.settle("conflicted", using: .custom("bad") { _ in .merged(body, attachments: []) })
        },
        Call("preview a settlement") { body, database in
            _ = try database.preview("conflicted", using: .custom("bad") { _ in .merged(body, attachments: []) })
        },
        Call("revise an operation") { body, database in
            let journal = try #require(database.journal)
            let entry = try #require(try journal.history(of: "stored").last)
            _ = try journal.revise(
                entry.number, of: "stored", to: RevisionContent(body: body), isKept: true)
        },
        Call("save a local document") { try $1.saveLocalDocument("_local/a", body: $0) },
        Call("save in a transaction") { body, database in
            try database.transaction {
                try database.save(Document(id: "b", body: ["fine": 1]))
                try database.save(Document(id: "a", body: body))
            }
        },
    ]

    @Test(arguments: calls, BadBody.allCases)
    func `a body that can't be stored is an error that names the document, and nothing is stored`(
        call: Call, bad: BadBody
    ) throws {
        for clocks in [false, true] {
            var options = DatabaseOptions()
            options.journal = true
            options.attributeClocks = clocks
            options.warn = { _ in }
            try withTemporaryDatabase(.memory, options: options) { database in
                try database.add("stored", ["n": 1])
                try database.insertReplicated([
                    peer("conflicted", path("1-a"), ["n": 1]), peer("conflicted", path("1-b"), ["n": 2]),
                ])
                let before = (try database.lastSequence(), try database.localDocuments())
                var thrown: (any Error)?
                do { try call.run(bad.body, database) } catch { thrown = error }
                let error = try #require(thrown as? DatabaseError, "\(String(describing: thrown))")
                #expect([.invalid, .resolverFailed].contains(error.code))
                let words = "\(error) \(error.cause.map { "\($0)" } ?? "")"
                #expect(
                    ["\"a\"", "\"stored\"", "\"conflicted\"", "\"_local/a\""].contains { words.contains($0) },
                    "\(words)")
                if call.testDescription != "set a member" {
                    for word in bad.words { #expect(words.contains(word), "\(words)") }
                }
                #expect(try database.lastSequence() == before.0)
                #expect(try database.localDocuments() == before.1)
                #expect(try database.document("stored")?["n"] == 1)
                #expect(try database.problems() == [])
            }
        }
    }

    @Test(arguments: BadBody.allCases)
    func `a body of a literal that can't be stored says why, and is equal to no other`(bad: BadBody) throws {
        let body = bad.body
        #expect(body.fault?.code == bad.cause)
        #expect(body == bad.body)
        #expect(body != .empty)
        #expect(Set([body, bad.body, .empty]).count == 2)
        #expect(!body.description.isEmpty && !body.json.prettyPrinted.isEmpty)
        #expect(DocumentBody.empty.fault == nil && (["a": 1] as DocumentBody).fault == nil)
        #expect(throws: DatabaseError.self) { try Document(id: "a", body: body).body() }
    }

    @Test func `a value as deep as the limit is stored and read, and one level more is not`() throws {
        let deepest = BadBody.nested(JSONLimits.depth - 1) { [$0] }
        let body: DocumentBody = ["a": deepest]
        #expect(body.fault == nil)
        try withTemporaryDatabase(.memory) { database in
            let saved = try database.save(Document(id: "a", body: body))
            #expect(try database.document("a")?["a"] == deepest)
            #expect(try database.document("a") == saved)
        }
        #expect(throws: JSONError.self) { try DocumentBody(["a": [deepest]]) }
    }

    @Test func `values twice as deep as the limit are printed, compared, hashed and freed without ending the process`()
    {
        let levels = 2 * JSONLimits.depth
        let (left, right) = (BadBody.nested(levels) { [$0] }, BadBody.nested(levels) { [$0] })
        #expect(left.description.utf8.count == 2 * levels + 1)
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
    }

    @Test(arguments: Kinds.all)
    func `an id that can't be one is an error wherever it is given, and nothing is stored`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let before = try database.lastSequence()
            for text in ["", "_", "_x", "_design/", "_local/"] {
                let calls: [(String, () throws -> Any?)] = [
                    ("save", { try database.save(Document(id: DocumentID(stringLiteral: text), body: ["n": 1])) }),
                    ("make", { try Document(id: text) }),
                    ("document", { try database.document(text) }),
                    ("revision", { try database.document(text, revision: try RevisionID(validating: "1-a")) }),
                    ("tree", { try database.tree(of: text) }),
                    ("leaves", { try database.leaves(of: text) }),
                    ("conflict", { try database.conflict(of: text) }),
                    ("update", { try database.update(text) { _ in } }),
                    ("update or create", { try database.updateOrCreate(text) { $0["n"] = 1 } }),
                    ("update if needed", { try database.updateIfNeeded(text) { _ in true } }),
                    ("delete", { try database.delete(text) }),
                    ("purge", { try database.purge(text) }),
                    ("purge revisions", { try database.purge(text, revisions: []) }),
                    ("expire", { try database.setExpiration(of: text, at: nil) }),
                    ("expiration", { try database.expiration(of: text) }),
                    ("settle", { try database.settle(text, using: .keepAll) }),
                    ("preview", { try database.preview(text, using: .keepAll) }),
                    ("local", { try database.saveLocalDocument(DocumentID(stringLiteral: text), body: [:]) }),
                    (
                        "replicated",
                        {
                            let revision = peer(DocumentID(stringLiteral: text), try path("1-a"), ["n": 1])
                            if case .refused(let error) = try database.insertReplicated([revision])[0] { throw error }
                            return nil
                        }
                    ),
                ]
                for (name, call) in calls { #expect(code { try call() } == .invalid, "\(name) \(text)") }
            }
            #expect(try database.lastSequence() == before)
            #expect(try database.documents().isEmpty && database.localDocuments().isEmpty)
        }
    }

    @Test func `the observation of what can't be an id throws at its first element`() async throws {
        let database = try Database.inMemory()
        var observed = database.observe("_x").makeAsyncIterator()
        await #expect(throws: DatabaseError.self) { _ = try await observed.next() }
    }

    @Test func `a model without an id yet is an error that says so`() throws {
        let database = try Database.inMemory()
        let id: String? = nil
        let error = #expect(throws: DatabaseError.self) { try database.delete(id) }
        #expect(error?.code == .invalid && error?.message.contains("save the model first") == true)
    }
}
