import Settle
import SettleCore
import SettleDatabase
import SettleTesting

/// Random databases with every kind of tree, body and attachment, reproducible by a seed.
struct RandomDatabase {
    private var generator: SeededRandom
    private let database: Database

    static func make(seed: UInt64) throws -> Database {
        var random = RandomDatabase(generator: SeededRandom(seed: seed), database: try Database.inMemory())
        for number in 0..<12 { try random.addDocument(DocumentID(validating: "doc \(number) \"é\"")) }
        for number in 0..<4 {
            let body = try DocumentBody(.object(["n": .number(JSONNumber(number))]))
            try random.database.saveLocalDocument(DocumentID(validating: "_local/\(number)"), body: body)
        }
        return random.database
    }

    /// A document whose revisions were replicated, or made here.
    private mutating func addDocument(_ id: DocumentID) throws {
        if Bool.random(using: &generator) {
            var document = Document(id: id)
            for _ in 0...Int.random(in: 0..<5, using: &generator) {
                document.json = body()
                document.attachments = try attachments()
                document = try database.save(document, onConflict: .fail)
            }
            if Int.random(in: 0..<4, using: &generator) == 0 { try database.delete(document, onConflict: .fail) }
            return
        }
        var histories: [RevisionHistory] = []
        for _ in 0...Int.random(in: 0..<8, using: &generator) {
            let parent = histories.randomElement(using: &generator)
            let isRoot = parent == nil || Int.random(in: 0..<6, using: &generator) == 0
            let start = isRoot ? UInt64.random(in: 1...6, using: &generator) : (parent?.start ?? 0) + 1
            let history = try RevisionHistory(
                start: start, signatures: [signature()] + (isRoot ? [] : parent?.signatures ?? []))
            histories.append(history)
            let isDeleted = Int.random(in: 0..<4, using: &generator) == 0
            try database.insertReplicated([
                ReplicatedRevision(
                    id: id, history: history, isDeleted: isDeleted, body: DocumentBody(body()),
                    attachments: isDeleted ? [] : attachments())
            ])
        }
    }

    private mutating func signature() -> RevisionSignature {
        if Int.random(in: 0..<5, using: &generator) == 0 {
            return RevisionSignature("peer\(generator.next())") ?? RevisionSignature(high: 0, low: 0)
        }
        return RevisionSignature(high: generator.next(), low: generator.next())
    }

    private mutating func body() -> JSONValue {
        let values: [JSONValue] = [
            1, 1.0, "é\n\"\\\u{1}", nil, true, [1, 2, 255], ["a": [:], "b": []],
            JSONNumber(text: "1e3").map(JSONValue.number) ?? .null, .number(JSONNumber(Int.max)),
        ]
        let names = ["a", "zé", "$blob", "", "data", "offset", "_access"]
        var members: [(String, JSONValue)] = []
        for _ in 0..<Int.random(in: 0..<5, using: &generator) {
            members.append(
                (names.randomElement(using: &generator) ?? "", values.randomElement(using: &generator) ?? .null))
        }
        return .object(JSONObject(members))
    }

    private mutating func attachments() throws -> [DocumentAttachment] {
        let types = ["text/plain", "image/png", "application/json; charset=utf-8"]
        return try (0..<Int.random(in: 0..<3, using: &generator)).map { number in
            let length = [0, 1, 500, 70_000].randomElement(using: &generator) ?? 0
            let type = types.randomElement(using: &generator) ?? ""
            // Sometimes plain bytes of a type that is usually compressed, as a peer may send them.
            let isPlain = Bool.random(using: &generator)
            let writer = try database.attachmentWriter(contentType: type, encoding: isPlain ? .identity : nil)
            var noise = SeededRandom(seed: UInt64.random(in: 0...255, using: &generator))
            try writer.write(noise.compressibleBytes(length))
            return try writer.finish(name: "file \(number)")
        }
    }
}
