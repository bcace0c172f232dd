import Settle

/// Compares a database that was reopened after a kill with what it owes.
struct Checker {
    let database: Database
    private(set) var problems: [String] = []

    init(_ database: Database) { self.database = database }

    /// Checks everything, and makes what is there now what the next round owes.
    mutating func check(_ ledger: inout Ledger) throws {
        problems += ledger.complaints
        problems += try database.verify().problems
        for (id, debt) in ledger.debts { try check(id, debt) }
        for content in ledger.contents { try check(content) }
        for (id, number) in ledger.locals where try database.localDocument(id)?.revisionNumber ?? 0 < number {
            problems.append("\(id) was acknowledged as 0-\(number)")
        }
        ledger.debts = [:]
        var groups: [String: [Int]] = [:]
        for change in try database.changes(style: .allLeaves) {
            let tree = try database.tree(of: change.id)
            let leaves = tree?.leaves.map { ($0.revision, Bool?.some($0.isDeleted)) } ?? []
            ledger.debts[change.id] = Ledger.Debt(revisions: Dictionary(uniqueKeysWithValues: leaves))
            try look(at: change.id, &groups)
        }
        try check(groups, &ledger)
    }

    private mutating func check(_ id: DocumentID, _ debt: Ledger.Debt) throws {
        guard let tree = try database.tree(of: id) else {
            if !debt.revisions.isEmpty, !debt.isBeingPurged { problems.append("\(id) is gone") }
            return
        }
        for (revision, isDeleted) in debt.revisions {
            guard let node = tree[revision] else {
                problems.append("\(id) lacks \(revision)")
                continue
            }
            if let isDeleted, node.isDeleted != isDeleted { problems.append("\(id) \(revision) changed its nature") }
        }
        for revision in debt.purged where tree.contains(revision) {
            problems.append("\(id) has \(revision) again, which was purged")
        }
    }

    private mutating func check(_ content: Ledger.Content) throws {
        // A later revision may have taken its place, and compaction its content.
        guard let document = try database.document(content.id, revision: content.revision) else { return }
        guard let attachment = document.attachment(content.name) else {
            return problems.append("\(content.id) \(content.revision) lacks \(content.name)")
        }
        if try database.content(of: attachment) != content.content.bytes {
            problems.append("\(content.id) \(content.revision) has another content in \(content.name)")
        }
    }

    private mutating func look(at id: DocumentID, _ groups: inout [String: [Int]]) throws {
        let parts = id.string.split(separator: "-")
        if parts.first == "ghost" { problems.append("\(id) was undone and is there") }
        guard parts.count == 4, let document = try database.document(id) else { return }
        groups[parts.dropLast().joined(separator: "-"), default: []].append(document["stamp"]?.int ?? 0)
    }

    private mutating func check(_ groups: [String: [Int]], _ ledger: inout Ledger) throws {
        for (name, owed) in ledger.stamps where groups[name]?.min() ?? 0 < owed {
            problems.append("group \(name) was acknowledged as \(owed) and is \(groups[name] ?? [])")
        }
        for (name, stamps) in groups {
            let size = WritingThread.groupSizes[String(name.prefix(1))]
            if stamps.count != size || Set(stamps).count != 1 { problems.append("group \(name) is torn: \(stamps)") }
            ledger.stamps[name] = stamps.min()
        }
    }
}
