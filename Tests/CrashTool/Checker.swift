import Settle

/// Compares a database that was reopened after a kill with the acknowledged writes.
struct Checker {
    let database: Database
    private(set) var problems: [String] = []
    /// How many settlements that the kill interrupted are there completely.
    private(set) var cutAndWhole = 0
    /// How many settlements that the kill interrupted left the conflict unchanged.
    private(set) var cutAndGone = 0

    init(_ database: Database) { self.database = database }

    /// Checks everything, and records the current state as what the next round must find.
    mutating func check(_ ledger: inout Ledger) throws {
        problems += ledger.complaints
        problems += try database.verify().problems
        problems += try JournalCheck(database: database).problems()
        for (id, debt) in ledger.debts { try check(id, debt) }
        for (id, plan) in ledger.plans { try check(id, plan) }
        ledger.plans = [:]
        for content in ledger.contents { try check(content) }
        for (id, number) in ledger.locals where try database.localDocument(id)?.revisionNumber ?? 0 < number {
            problems.append("\(id) was acknowledged as 0-\(number)")
        }
        ledger.debts = [:]
        var groups: [String: [Int]] = [:]
        for change in try database.changes(style: .allLeaves) {
            guard let tree = try database.tree(of: change.id) else { continue }
            let leaves = tree.leaves.map { ($0.revision, Bool?.some($0.isDeleted)) }
            ledger.debts[change.id] = Ledger.Debt(revisions: Dictionary(uniqueKeysWithValues: leaves))
            problems += try ResolutionCheck(id: change.id, tree: tree, database: database).problems()
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

    /// An interrupted settlement: either all of it is there, or the conflict is unchanged.
    private mutating func check(_ id: DocumentID, _ plan: [RevisionID: Bool]) throws {
        let tree = try database.tree(of: id)
        let written = plan.filter { tree?[$0.key]?.isDeleted == $0.value }
        if written.count == plan.count {
            cutAndWhole += 1
        } else if !plan.keys.contains(where: { tree?.contains($0) == true }) {
            cutAndGone += 1
        } else {
            let names = plan.keys.sorted().map { "\($0)\(written[$0] == nil ? " (missing)" : "")" }
            problems.append("\(id) is settled by half: \(names.joined(separator: ", "))")
        }
    }

    /// Settles remaining conflicts, as an app that opens the database may do: a few documents, or all of them.
    mutating func settleAgain(everything: Bool) throws {
        guard everything else {
            for id in try database.conflictedDocumentIDs(limit: 3) {
                let settlement = try database.settle(id, using: .threeWayMerge())
                if settlement.outcome == .nothing { problems.append("\(id) is listed and there is nothing to settle") }
            }
            return
        }
        let report = try database.settleAll(using: .deletesWin)
        problems += report.failures.map { "\($0.documentID) can't be settled: \($0.error)" }
        let again = try database.settleAll(using: .deletesWin)
        if again.total > 0 || report.left > 0 { problems.append("\(again.total) conflicts are left by settling all") }
        problems += try database.verify().problems
        for change in try database.changes() {
            guard let tree = try database.tree(of: change.id) else { continue }
            problems += try ResolutionCheck(id: change.id, tree: tree, database: database).problems()
        }
    }

    private mutating func check(_ content: Ledger.Content) throws {
        // A later revision may have replaced it, and compaction may have removed its content.
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
