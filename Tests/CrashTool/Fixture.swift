import Foundation
import Settle
import SettleCore
import SettleDatabase

/// A small database with every feature, always the same: the format fixture, and the fuzzer's seed.
struct Fixture {
    let folder: String

    /// Creates the database in a new folder.
    func make() throws {
        let database = try Database.create(folder, options: options)
        defer { database.close() }
        try database.setRevisionLimit(5)
        try database.setAttributesKeptOnDelete(["type"])
        try saveDocuments(in: database)
        try insertConflicts(in: database)
        try settleConflicts(in: database)
        try saveAttachments(in: database)
        try database.saveLocalDocument("_local/checkpoint", body: ["seq": 1])
        try database.saveLocalDocument("_local/checkpoint", body: ["seq": 2])
        try database.save(Document(id: "expires"), onConflict: .fail)
        try database.setExpiration(of: "expires", at: Date(timeIntervalSince1970: 4_102_444_800))
    }

    /// Options with a journal whose operations all have one time.
    private var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.journal = true
        options.now = { Date(milliseconds: 1_767_323_045_000) }
        return options
    }

    private func saveDocuments(in database: Database) throws {
        let body = try DocumentBody(
            parsing: #"{"type":"food","price":1.0,"much":1e3,"big":123456789012345678901234567890,"bytes":[1,2,255]}"#)
        var milk = try database.save(Document(id: "milk", body: body), onConflict: .fail)
        milk["name"] = "Milk"
        milk = try database.save(milk, onConflict: .fail)
        let bread = try database.save(Document(id: "bread", body: ["type": "food", "n": 1]), onConflict: .fail)
        try database.delete(bread, onConflict: .fail)
        var stemmed = Document(id: "stemmed")
        for number in 1...12 {
            stemmed["n"] = .number(JSONNumber(number))
            stemmed = try database.save(stemmed, onConflict: .fail)
        }
        try database.save(Document(id: "_design/shop", body: ["language": "javascript"]), onConflict: .fail)
        try database.save(Document(id: "käse 奶酪", body: ["text": "“quoted”\u{1}"]), onConflict: .fail)
        try database.save(Document(id: "purged"), onConflict: .fail)
        try database.purge("purged")
    }

    private func insertConflicts(in database: Database) throws {
        let base = try database.save(Document(id: "conflict", body: ["n": 0]), onConflict: .fail)
        guard let revision = base.revision else { return }
        var mine = base
        mine["n"] = 1
        mine = try database.save(mine, onConflict: .fail)
        try database.markShared([("conflict", revision)])
        for (signature, isDeleted) in [("theirs", false), ("gone", true), ("00000000000000000000000000000001", false)] {
            guard let signature = RevisionSignature(signature) else { continue }
            let history = try RevisionHistory(
                start: revision.generation + 1, signatures: [signature, revision.signature])
            try database.insertReplicated([
                ReplicatedRevision(id: "conflict", history: history, isDeleted: isDeleted, body: ["from": "a peer"])
            ])
        }
        guard let alien = RevisionSignature("alien") else { return }
        let root = try RevisionHistory(start: 7, signatures: [alien])
        try database.insertReplicated([ReplicatedRevision(id: "other root", history: root)])
    }

    /// A settled conflict, a contested deletion, and two racing answers.
    private func settleConflicts(in database: Database) throws {
        let settled = try part("settled", signature: "theirs", in: database)
        try database.settle("settled", using: .threeWayMerge())
        if let settled { try database.markShared([("settled", settled)]) }
        _ = try part("contested", signature: "gone", isDeleted: true, in: database)
        guard let base = try part("racing", signature: "theirs", in: database) else { return }
        try database.settle("racing", using: .threeWayMerge())
        // Another replica has kept its own side, and closed the same branch for it.
        guard let winner = try database.document("racing")?.revision,
            let tree = try database.tree(of: "racing"), let parent = tree.parent(of: winner),
            let closed = tree.leaves.last.flatMap({ tree.parent(of: $0.revision) }),
            let answer = RevisionSignature("answer"), let closing = RevisionSignature("closing")
        else { return }
        try database.insertReplicated([
            ReplicatedRevision(
                id: "racing",
                history: try RevisionHistory(start: 3, signatures: [answer, parent.signature, base.signature]),
                body: ["n": 0, "mine": "kept"]),
            ReplicatedRevision(
                id: "racing",
                history: try RevisionHistory(start: 3, signatures: [closing, closed.signature, base.signature]),
                isDeleted: true, body: ["$closed": "3-answer"]),
        ])
    }

    /// Edits a document here, and inserts a replicated edit or deletion of the same base; returns the base.
    private func part(
        _ id: DocumentID, signature: String, isDeleted: Bool = false, in database: Database
    ) throws -> RevisionID? {
        let base = try database.save(Document(id: id, body: ["n": 0, "kept": true]), onConflict: .fail)
        var mine = base
        mine["mine"] = 1
        try database.save(mine, onConflict: .fail)
        guard let revision = base.revision, let signature = RevisionSignature(signature) else { return nil }
        var theirs = ReplicatedRevision(
            id: id, history: try RevisionHistory(start: 2, signatures: [signature, revision.signature]),
            isDeleted: isDeleted, body: isDeleted ? .empty : ["n": 7, "kept": true])
        theirs.isDeletionAtSource = isDeleted
        try database.insertReplicated([theirs])
        return revision
    }

    private func saveAttachments(in database: Database) throws {
        let large = try database.makeAttachment(
            "large.bin", content: AttachmentContent(seed: 1, length: 70_000).bytes)
        var pictures = Document(id: "pictures")
        pictures.attach(large)
        pictures.attach(
            try database.makeAttachment(
                "small.png", contentType: "image/png", content: AttachmentContent(seed: 2, length: 1000).bytes))
        pictures.attach(
            try database.makeAttachment(
                "letter.txt", contentType: "text/plain; charset=utf-8",
                content: Array(String(repeating: "All is well. ", count: 100).utf8)))
        try database.save(pictures, onConflict: .fail)
        try database.save(Document(id: "same content", attachments: [large]), onConflict: .fail)
    }
}
