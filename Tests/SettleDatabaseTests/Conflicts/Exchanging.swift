import Foundation
import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting

extension Database {
    /// Replicates all leaves of all documents from another database, as a pull would; returns how many were new.
    @discardableResult
    func pull(from source: Database) throws -> Int {
        var stored = 0
        for change in try source.changes(style: .allLeaves) {
            for leaf in try source.leaves(of: change.id) {
                guard let revision = leaf.revision, let history = try source.tree(of: change.id)?.history(of: revision)
                else { continue }
                var replicated = ReplicatedRevision(
                    id: change.id, history: history, isDeleted: leaf.isDeleted, body: try leaf.body(),
                    attachments: try leaf.attachments.map { try bring($0, from: source) })
                replicated.isDeletionAtSource = change.isDeleted && revision == change.winner
                if try insertReplicated([replicated]).map(\.word) == ["stored"] { stored += 1 }
            }
        }
        return stored
    }

    private func bring(_ attachment: DocumentAttachment, from source: Database) throws -> DocumentAttachment {
        try makeAttachment(
            attachment.name, contentType: attachment.contentType, content: source.content(of: attachment))
    }

    /// Two leaves on one base: `1-…` saved here, one edit here and one from a peer.
    func makeConflict(
        _ id: DocumentID, base: DocumentBody = ["v": 0], here: DocumentBody = ["v": "here"],
        there: DocumentBody = ["v": "there"]
    ) throws {
        let first = try save(Document(id: id, body: base), onConflict: .fail)
        let peer = try Database.plain()
        defer { peer.close() }
        try peer.pull(from: self)
        var mine = first
        mine.setBody(here)
        try save(mine, onConflict: .fail)
        var theirs = first
        theirs.setBody(there)
        try peer.save(theirs, onConflict: .fail)
        try pull(from: peer)
    }

    /// The contents of a document's leaves, winner first, tombstones with a bang.
    func leafBodies(_ id: DocumentID) throws -> [String] {
        try leaves(of: id).map { ($0.isDeleted ? "!" : "") + $0.json.description }
    }
}

/// Two databases in memory.
func withTwoDatabases(_ body: (Database, Database) throws -> Void) throws {
    try withTemporaryDatabase(.plain) { first in
        try withTemporaryDatabase(.plain) { second in try body(first, second) }
    }
}

extension DatabaseOptions {
    /// Options that suppress warnings.
    static var quiet: DatabaseOptions {
        var options = DatabaseOptions()
        options.warn = { _ in }
        return options
    }
}

/// Makes databases in memory that print no warnings.
func withDatabases(_ count: Int, _ body: ([Database]) throws -> Void) throws {
    let databases = try (0..<count).map { _ in try Database.plain(options: .quiet) }
    defer { for database in databases { database.close() } }
    try body(databases)
}

/// Replicates everything to all databases.
func exchange(_ databases: [Database]) throws {
    for _ in 0..<2 {
        for first in databases { for second in databases where first !== second { try first.pull(from: second) } }
    }
}

/// Stores a comb: each leaf hangs on the next revision of a long trunk.
func storeComb(in database: Database, teeth: Int) throws {
    let revisions = try (1...teeth).map { number in
        let signatures = try (1...number).reversed().map { index in
            try RevisionID(validating: "1-\(index == number ? "leaf" : "trunk")\(index)").signature
        }
        return peer("d", try RevisionHistory(start: UInt64(number), signatures: signatures), ["v": 1])
    }
    try database.insertReplicated(revisions)
}

/// A document that was deleted on the first database and edited on the second, after both have replicated.
func withDeletionAgainstEdit(_ body: (Database, Database) throws -> Void) throws {
    try withTwoDatabases { first, second in
        try first.add("a")
        try second.pull(from: first)
        try first.delete("a")
        try second.set("a", "v", 2)
        try first.pull(from: second)
        try second.pull(from: first)
        try body(first, second)
    }
}

/// Options that record warnings.
func options(noting seen: Seen) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.warn = { seen.note($0) }
    return options
}
