import Settle

/// Checks after a kill that the database's journal and its documents agree: every change has its entry, and every
/// entry its change.
struct JournalCheck {
    let database: Database

    /// The violations, as text.
    func problems() throws -> [String] {
        guard let journal = database.journal else { return [] }
        var problems: [String] = []
        for entry in try journal.history()
        where try database.tree(of: entry.documentID)?.contains(entry.revision) != true {
            problems.append("\(entry.documentID) has an entry of \(entry.revision), which is not there")
        }
        for change in try database.changes() {
            let kind = change.id.string.split(separator: "-").first ?? ""
            guard ["g", "b", "h", "j"].contains(kind) else { continue }
            problems += try replayProblems(change.id, try journal.history(of: change.id), isWhole: kind != "j")
        }
        return problems
    }

    /// Replays the entries of a document without conflicts on a peer's state: they must follow one another and give the current
    /// document. If nothing was undone or acknowledged there is one entry for each revision.
    private func replayProblems(_ id: DocumentID, _ entries: [JournalEntry], isWhole: Bool) throws -> [String] {
        guard let tree = try database.tree(of: id), let winner = tree.winner?.revision,
            let path = tree.history(of: winner)?.revisions
        else { return [] }
        var problems: [String] = []
        if isWhole, entries.map(\.revision) != Array(path.reversed()) {
            problems.append("\(id) has \(path.count) revisions and \(entries.count) entries, which are others")
        }
        let shared = path.first { tree[$0]?.isShared == true }
        var body = try shared.flatMap { try stored(id, at: $0) }
        for entry in entries {
            if entry.old?.body != body { problems.append("\(id): the entry of \(entry.revision) begins elsewhere") }
            body = entry.new?.body
        }
        let current = try stored(id, at: winner)
        if body != current {
            problems.append("\(id): its entries do not lead to \(winner), \(entries.count) of them after a peer's")
        }
        return problems
    }

    private func stored(_ id: DocumentID, at revision: RevisionID) throws -> DocumentBody? {
        guard let document = try database.document(id, revision: revision), !document.isDeleted else { return nil }
        return try document.body()
    }
}
