import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettleTesting

/// One thread of the process that is going to be killed: it changes documents endlessly, and notes each change after
/// the call that made it has returned.
///
/// Threads have documents of their own, so that the order of a document's notes is the order of its changes; a few are
/// shared, and settling all conflicts changes those of all threads. The seed determines the operations.
struct WritingThread {
    /// The number of documents in a group that is saved in one transaction, or in one batch.
    static let groupSizes = ["g": 3, "b": 12]

    let database: Database
    let number: Int
    let gate: SettlingGate
    var random: SeededRandom
    private struct Undone: Error {}

    mutating func run() throws {
        while true { try step() }
    }

    private mutating func step() throws {
        switch Int.random(in: 0..<1000, using: &random) {
        case ..<80: try saveInTransaction()
        case ..<130: try saveInBatch()
        case ..<200: try saveShared()
        case ..<230: try saveLocal()
        case ..<240: try compactOrUndo()
        case ..<255: try gate.alone { try settleAll() }
        case ..<355: try stepInJournal()
        default: try gate.shared { try stepAmongOwn() }
        }
    }

    /// Changes a document of this thread.
    private mutating func stepAmongOwn() throws {
        switch Int.random(in: 0..<1000, using: &random) {
        case ..<290: try save()
        case ..<350: try delete()
        case ..<450: try insertConflict()
        case ..<510: try saveAttachment(length: Int.random(in: 0...60_000, using: &random))
        case ..<530: try saveAttachment(length: Int.random(in: 65_537...3_000_000, using: &random))
        case ..<570: try purge()
        case ..<650: try settle(ownID())
        case ..<680: try insertRacingAnswer()
        default: try partOrSettle()
        }
    }

    private mutating func ownID() throws -> DocumentID {
        try DocumentID(validating: "d-\(number)-\(Int.random(in: 0..<40, using: &random))")
    }

    /// A number that no other edit has, so that no two edits have the same revision.
    mutating func tick() -> JSONValue { .number(JSONNumber(Int(random.next() >> 11))) }

    mutating func edited(_ document: Document) -> Document {
        var document = document
        document["tick"] = tick()
        document["text"] = .string(String(repeating: "-", count: Int.random(in: 0..<800, using: &random)))
        return document
    }

    private mutating func save() throws {
        let id = try ownID()
        let leaves = try database.leaves(of: id).filter { !$0.isDeleted }
        let document = edited(leaves.randomElement(using: &random) ?? Document(id: id))
        note("S", try database.save(document, onConflict: .fail))
    }

    private mutating func delete() throws {
        let leaves = try database.leaves(of: ownID()).filter { !$0.isDeleted }
        guard let document = leaves.randomElement(using: &random) else { return }
        if let tombstone = try database.delete(document, onConflict: .fail) { note("D", tombstone) }
    }

    private mutating func insertConflict() throws {
        let id = try ownID()
        let signature = RevisionSignature(high: random.next(), low: random.next())
        var history = try RevisionHistory(start: 1, signatures: [signature])
        if let tree = try database.tree(of: id), let base = tree.revisions.randomElement(using: &random),
            let path = tree.history(of: base, limit: 20)
        {
            history = try RevisionHistory(start: path.start + 1, signatures: [signature] + path.signatures)
        }
        let revision = ReplicatedRevision(
            id: id, history: history, isDeleted: Int.random(in: 0..<8, using: &random) == 0, body: ["from": "a peer"])
        guard case .stored = try database.insertReplicated([revision]).first else {
            return Journal.note("! a replicated revision was not stored")
        }
        Journal.note("R", id.string, history.revision.description)
    }

    /// The documents of a group with the next stamp.
    private mutating func group(_ kind: String) throws -> (name: String, stamp: Int, documents: [Document]) {
        let name = "\(kind)-\(number)-\(Int.random(in: 0..<5, using: &random))"
        let documents = try (0..<(Self.groupSizes[kind] ?? 0)).map { index in
            let id = try DocumentID(validating: "\(name)-\(index)")
            return try database.document(id) ?? Document(id: id)
        }
        let stamp = (documents.first?["stamp"]?.int ?? 0) + 1
        let stamped = documents.map { document in
            var document = document
            document["stamp"] = .number(JSONNumber(stamp))
            return document
        }
        return (name, stamp, stamped)
    }

    private mutating func saveInTransaction() throws {
        let (name, stamp, documents) = try group("g")
        let failsInside = Bool.random(using: &random)
        try database.transaction {
            for document in documents { try database.save(document, onConflict: .fail) }
            if failsInside { try writeGhost() }
        }
        Journal.note("G", name, "\(documents.count)", "\(stamp)")
    }

    private mutating func saveInBatch() throws {
        let (name, stamp, documents) = try group("b")
        for result in try database.saveAll(documents, onConflict: .lastWriteWins) { _ = try result.get() }
        Journal.note("G", name, "\(documents.count)", "\(stamp)")
    }

    private mutating func saveShared() throws {
        let id = try DocumentID(validating: "h-\(Int.random(in: 0..<16, using: &random))")
        note("H", try database.save(edited(Document(id: id)), onConflict: .lastWriteWins))
    }

    private mutating func saveAttachment(length: Int) throws {
        let id = try ownID()
        // Sometimes a content that other documents have too.
        let isCommon = Int.random(in: 0..<3, using: &random) == 0
        let seed = isCommon ? UInt64.random(in: 0..<4, using: &random) : random.next()
        let content = AttachmentContent(seed: seed, length: isCommon ? length > 65_536 ? 200_000 : 2000 : length)
        let name = Bool.random(using: &random) ? "photo" : "letter"
        let writer = try database.attachmentWriter(
            contentType: name == "photo" ? "image/png" : "text/plain")
        let bytes = content.bytes
        for start in stride(from: 0, to: bytes.count, by: 100_000) {
            try writer.write(Array(bytes[start..<min(start + 100_000, bytes.count)]))
        }
        var document = edited(try database.document(id) ?? Document(id: id))
        document.attach(try writer.finish(name: name))
        let saved = try database.save(document, onConflict: .fail)
        Journal.note(
            "A", id.string, saved.revision?.description ?? "", name, "\(content.seed)", "\(content.length)")
    }

    private mutating func purge() throws {
        let id = try Int.random(in: 0..<8, using: &random) == 0 ? partedID() : ownID()
        Journal.note("p", id.string)
        try database.purge(id)
        Journal.note("P", id.string)
    }

    private mutating func saveLocal() throws {
        let id = try DocumentID(validating: "_local/l-\(number)")
        let saved = try database.saveLocalDocument(id, body: ["tick": tick()])
        Journal.note("L", id.string, "\(saved.revisionNumber)")
    }

    private mutating func compactOrUndo() throws {
        if number == 0, Bool.random(using: &random) {
            try database.compact()
            return Journal.note("C")
        }
        try writeGhost()
    }

    /// Writes a document and rolls it back; it must never be visible.
    private func writeGhost() throws {
        do {
            try database.transaction {
                try database.save(
                    Document(id: DocumentID(validating: "ghost-\(number)")), onConflict: .lastWriteWins)
                throw Undone()
            }
        } catch is Undone {}
    }

    private func note(_ kind: String, _ document: Document) {
        Journal.note(kind, document.id.string, document.revision?.description ?? "")
    }
}
