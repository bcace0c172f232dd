internal import Settle

/// All acknowledged revisions of one document on all replicas: the knowledge of an observer that sees everything.
struct SimulationLedger {
    struct Entry {
        let parent: RevisionID?
        let isDeleted: Bool
        /// The revision for which it closes its branch.
        let survivor: RevisionID?
        /// Whether a user wrote it; otherwise settling did.
        let isOfUser: Bool
    }

    private(set) var entries: [RevisionID: Entry] = [:]
    /// For each edit that revived a deleted document, the deletions that its author knew of.
    var revivals: [RevisionID: Set<RevisionID>] = [:]
    /// Whether a user has ever deleted the document, or a branch of it.
    private(set) var wasDeleted = false
    /// The number of revisions written by settling.
    private(set) var settling = 0

    mutating func record(_ revision: RevisionID, _ entry: Entry) {
        if let known = entries[revision], known.isOfUser || !entry.isOfUser { return }
        if !entry.isOfUser { settling += 1 }
        entries[revision] = entry
        if entry.isOfUser, entry.isDeleted, entry.survivor == nil { wasDeleted = true }
    }

    /// The revisions without children.
    var leaves: Set<RevisionID> {
        Set(entries.keys).subtracting(entries.values.compactMap(\.parent))
    }

    func isUserDeletion(_ revision: RevisionID) -> Bool {
        guard let entry = entries[revision] else { return false }
        return entry.isDeleted && entry.survivor == nil && entry.isOfUser
    }

    /// A revision and its ancestors, newest first.
    func path(_ revision: RevisionID) -> [RevisionID] {
        var path: [RevisionID] = []
        var next: RevisionID? = revision
        while let current = next {
            path.append(current)
            next = entries[current]?.parent
        }
        return path
    }

    /// The revisions that are neither an ancestor of a kept leaf, nor were closed, directly or in several steps, in
    /// favor of such an ancestor.
    ///
    /// Live leaves and users' deletions count as kept. The ancestors of a user's deletion were deleted by that
    /// user, whatever happened to the deletion later. So were revisions closed in favor of one. One replica may
    /// have decided for a deletion while another has decided against it; then each closing tombstone names the
    /// revision that the other one closes. Without users' deletions, closing tombstones never form a cycle.
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
