import Settle

extension WritingThread {
    /// Changes a document that has no conflicts, lets a peer acknowledge some changes, or undoes unacknowledged ones.
    mutating func stepInJournal() throws {
        let id = try DocumentID(validating: "j-\(number)-\(Int.random(in: 0..<6, using: &random))")
        switch Int.random(in: 0..<10, using: &random) {
        case ..<5:
            noteState(try database.save(edited(try database.document(id) ?? Document(id: id)), onConflict: .fail))
        case 5:
            guard let document = try database.document(id) else { return }
            if let tombstone = try database.delete(document, onConflict: .fail) { noteState(tombstone) }
        case 6, 7:
            guard let tree = try database.tree(of: id), let winner = tree.winner?.revision else { return }
            let fresh = tree.history(of: winner)?.revisions.prefix { tree[$0]?.isShared == false } ?? []
            guard let sent = fresh.randomElement(using: &random) else { return }
            try database.markShared([(id, sent)])
        default:
            guard let journal = database.journal, try !journal.undo(id).isEmpty else { return }
            if let leaf = try database.leaves(of: id).first { noteState(leaf) }
        }
    }

    private func noteState(_ document: Document) {
        Journal.note(document.isDeleted ? "D" : "S", document.id.string, document.revision?.description ?? "")
    }
}
