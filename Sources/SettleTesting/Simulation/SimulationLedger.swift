internal import Settle

/// All that was ever acknowledged of one document, on whatever replica: what an observer would know who sees everything.
struct SimulationLedger {
    struct Entry {
        let parent: RevisionID?
        let isDeleted: Bool
        /// The revision in whose favour it closes its branch.
        let survivor: RevisionID?
        /// Whether a user wrote it; else settling did.
        let isOfUser: Bool
    }

    private(set) var entries: [RevisionID: Entry] = [:]
    /// For each edit that brought a deleted document back, the deletions its author had seen.
    var revivals: [RevisionID: Set<RevisionID>] = [:]
    /// Whether a user ever deleted it, or a branch of it.
    private(set) var wasDeleted = false
    /// How many revisions settling wrote.
    private(set) var settling = 0

    mutating func note(_ revision: RevisionID, _ entry: Entry) {
        if let known = entries[revision], known.isOfUser || !entry.isOfUser { return }
        if !entry.isOfUser { settling += 1 }
        entries[revision] = entry
        if entry.isOfUser, entry.isDeleted, entry.survivor == nil { wasDeleted = true }
    }

    /// The revisions nothing was written on.
    var leaves: Set<RevisionID> {
        Set(entries.keys).subtracting(entries.values.compactMap(\.parent))
    }

    func isUserDeletion(_ revision: RevisionID) -> Bool {
        guard let entry = entries[revision] else { return false }
        return entry.isDeleted && entry.survivor == nil && entry.isOfUser
    }

    /// A revision and all it was made of, newest first.
    func path(_ revision: RevisionID) -> [RevisionID] {
        var path: [RevisionID] = []
        var next: RevisionID? = revision
        while let current = next {
            path.append(current)
            next = entries[current]?.parent
        }
        return path
    }

    /// The revisions that neither are an ancestor of a leaf that is kept nor were closed, step by step, in favour of
    /// something that is.
    ///
    /// Kept are live leaves and users' deletions. What a user's deletion stands on was deleted by that user, whatever became
    /// of the deletion since; and so was what was closed in favour of one. For one replica may have decided for a deletion
    /// while another one decided against it, and then each closing tombstone names what the other one closes. Where no
    /// user's deletion takes part, closing tombstones never run in a circle.
    func unaccounted(leaves: [RevisionNode], mayDelete: Bool) -> [RevisionID] {
        var accounted: Set<RevisionID> = []
        var waiting: [RevisionID: [RevisionID]] = [:]
        var news: [RevisionID] = []
        for leaf in leaves {
            guard leaf.isDeleted, let entry = entries[leaf.revision] else {
                news.append(leaf.revision)
                continue
            }
            if let survivor = entry.survivor {
                let deletion = path(leaf.revision).first(where: isUserDeletion)
                if let below = deletion.flatMap({ entries[$0]?.parent }) { news.append(below) }
                if isUserDeletion(survivor) || (mayDelete && entries[survivor]?.isDeleted == true) {
                    news.append(leaf.revision)
                } else {
                    waiting[survivor, default: []].append(leaf.revision)
                }
            } else if entry.isOfUser || mayDelete {
                news.append(leaf.revision)
            }
        }
        while let leaf = news.popLast() {
            for revision in path(leaf) {
                guard accounted.insert(revision).inserted else { break }
                news += waiting.removeValue(forKey: revision) ?? []
            }
        }
        return entries.keys.filter { !accounted.contains($0) }.sorted()
    }
}
