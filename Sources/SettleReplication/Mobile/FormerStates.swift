internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleMobile

/// Finds the former states of documents at a server: local leaves that the server's current state replaces, and the
/// states on which local edits were made.
///
/// A server of Couchbase Mobile's protocol sends only the current revision of a document. If another client has
/// switched the document to another branch, nothing tells this device that the earlier revision has ended:
///
///     at the server    1 ─ 2 ─ 3-a ─ 4-deleted         here    1 ─ 2 ─ 3-a            came first: forgotten
///                          └── 3-f ─ 4-b                           └── 3-f ─ 4-b      comes now
///
/// So this asks the server which of the local leaves it has. Those are not unsent edits of this device, and the
/// server decides about their content. They are removed here and not ended by tombstones: the server may have them
/// as open branches, and another replication could bring a tombstone there that would close them.
///
/// A server may also return to a revision that was ended here by a merge, if the merge was sent to it and another
/// client has deleted it since. Locally that revision would count as known. So the tombstone is removed, and the
/// revision comes again; see `reopen(_:)`.
///
/// An edit of such a leaf conflicts with the current state, and their common base may never have been here. This
/// asks the server whether it has had the leaf, which then serves as the base; see `FormerState`.
struct FormerStates: Sendable {
    private let server: MobilePeer
    private let database: Database
    /// The number of documents in one request.
    private static let maximumDocuments = 200
    /// The maximum number of a document's ended branches that are tried as parents of a sent leaf.
    private static let maximumParents = 20

    /// Creates a value for a pull from a server of this protocol into a database of this process.
    init?(of source: any PeerOperations, at target: any PeerOperations) {
        guard let server = source as? MobilePeer, let database = target.database else { return nil }
        (self.server, self.database) = (server, database)
    }

    /// Marks in the server's revisions which local leaves they replace, and on which state local edits were made.
    ///
    /// - Throws: ``PeerError`` if the connection is lost; ``DatabaseError``.
    func markReplaced(in revisions: [PeerRevision]) async throws -> [PeerRevision] {
        let besides = try await database.perform { database in
            let leaves = try database.leaves(beside: revisions.map { ($0.id, $0.history) })
            return try zip(revisions, leaves).map { revision, leaves in
                guard !leaves.isEmpty, let tree = try database.tree(of: revision.id) else { return try Beside(leaves) }
                return try Beside(leaves) { leaf in
                    try Self.otherNames(of: leaf, in: tree, revision.id, but: revision.history, database)
                }
            }
        }
        let divided = revisions.indices.filter { !besides[$0].leaves.isEmpty }
        var noted = revisions
        for start in stride(from: 0, to: divided.count, by: Self.maximumDocuments) {
            let places = divided[start..<min(start + Self.maximumDocuments, divided.count)]
            let states = try await server.states(
                of: places.map { (revisions[$0].id, besides[$0].revisions) })
            // A revision that is no longer current is followed by the current one.
            for (place, state) in zip(places, states) where state.current == revisions[place].revision {
                (noted[place].replaced, noted[place].formerState) = try await judge(
                    besides[place], state, revisions[place].id, revisions[place].history)
            }
        }
        return noted
    }

    /// Removes the tombstones of revisions to which the server has returned.
    ///
    ///     at the server    1 ─ 2-a                          here    1 ─ 2-a ─ 3-closed     the server's current one again
    ///                      └── 2-b ─ 3-x ─ 4-deleted                └── 2-b ─ 3-closed
    ///                                                               2-m ─ 3-m              was sent as 3-x
    ///
    /// It does so only if the server has had all live leaves, or the merges that they are edits of, so that no merge is
    /// waiting to be sent.
    ///
    /// - Parameter changes: The server's changes whose revisions are stored here.
    /// - Returns: Whether there are such revisions. They are then no longer stored here.
    /// - Throws: ``PeerError`` if the connection is lost; ``DatabaseError``.
    func reopen(_ changes: [ChangedDocument]) async throws -> Bool {
        let ended = try await database.perform { database in
            try database.snapshot { try changes.compactMap { try Self.ended($0, in: database) } }
        }
        var hasReopened = false
        for start in stride(from: 0, to: ended.count, by: Self.maximumDocuments) {
            let part = ended[start..<min(start + Self.maximumDocuments, ended.count)]
            let states = try await server.states(of: part.map { ($0.id, $0.names.flatMap(\.self)) })
            for (document, state) in zip(part, states) where state.current == document.current {
                guard document.names.allSatisfy({ $0.contains(where: state.known.contains) }) else { continue }
                try await database.perform { try $0.forgetReplaced(document.ends, of: document.id) }
                hasReopened = true
            }
        }
        return hasReopened
    }

    /// A document whose server revision has no live leaf here, while another one has.
    private struct Ended: Sendable {
        let id: DocumentID
        let current: RevisionID
        /// The local tombstones that descend from the server's revision.
        let ends: [RevisionID]
        /// The live leaves, each with all ids under which the server may have it, or the merge that it is an edit of.
        let names: [[RevisionID]]
    }

    private static func ended(_ change: ChangedDocument, in database: Database) throws -> Ended? {
        guard let current = change.leaves.first, let tree = try? database.tree(of: change.id),
            tree[current]?.isLeaf == false, let history = tree.history(of: current)
        else { return nil }
        let leaves = tree.leaves
        let ends = leaves.filter { tree.history(of: $0.revision)?.revisions.contains(current) ?? false }
        let live = leaves.filter { !$0.isDeleted }
        guard !live.isEmpty, !ends.isEmpty, ends.allSatisfy(\.isDeleted) else { return nil }
        let merges = try merges(by: ends.map(\.revision), of: change.id, database)
        return Ended(
            id: change.id, current: current, ends: ends.map(\.revision),
            names: try live.map { leaf in
                let merge = tree.history(of: leaf.revision)?.revisions.first(where: merges.contains)
                return try Set([leaf.revision, merge ?? leaf.revision]).flatMap { revision in
                    [revision] + (try otherNames(of: revision, in: tree, change.id, but: history, database))
                }
            })
    }

    /// The revisions for which tombstones have ended their branches.
    private static func merges(
        by ends: [RevisionID], of id: DocumentID, _ database: Database
    ) throws -> Set<RevisionID> {
        var merges: Set<RevisionID> = []
        try database.forEachRevision(ends.map { (id, $0, []) }) { stored in
            if let merge = try? stored.get()?.revision.survivor { merges.insert(merge) }
            return true
        }
        return merges
    }

    /// The ids under which a leaf may have been sent as a child of a locally ended revision. Ids in the history of
    /// the server's current revision are left out: that revision has the leaf's content, or descends from it.
    private static func otherNames(
        of leaf: RevisionID, in tree: RevisionTree, _ id: DocumentID, but history: RevisionHistory?,
        _ database: Database
    ) throws -> [RevisionID] {
        let parents = tree.leaves.filter { $0.isDeleted && $0.revision != leaf }.prefix(maximumParents)
            .compactMap { tree.parent(of: $0.revision) }
        guard !parents.isEmpty else { return [] }
        var names: [RevisionID] = []
        try database.forEachRevision([(id, leaf, [])]) { stored in
            if let found = try? stored.get()?.revision { names = MobileWinner.names(of: found, after: parents) }
            return false
        }
        guard let history else { return names }
        return names.filter { !history.revisions.contains($0) }
    }

    /// Removes the leaves of conflicts that the server's current revisions replace, if those revisions are stored
    /// here.
    ///
    /// - Returns: The states on which the local edits were made, as far as they are known.
    func forget(_ ids: [DocumentID]) async -> [DocumentID: FormerState] {
        var found: [DocumentID: FormerState] = [:]
        for start in stride(from: 0, to: ids.count, by: Self.maximumDocuments) {
            let part = ids[start..<min(start + Self.maximumDocuments, ids.count)]
            let open = try? await database.perform { database in
                try part.compactMap { id -> (id: DocumentID, tree: RevisionTree, beside: Beside)? in
                    guard let tree = try database.tree(of: id) else { return nil }
                    let leaves = Self.liveLeaves(of: tree)
                    guard leaves.count > 1 else { return nil }
                    // The server's current revision is not known yet. Each leaf may be it.
                    return (
                        id, tree, try Beside(leaves) { try Self.otherNames(of: $0, in: tree, id, but: nil, database) }
                    )
                }
            }
            guard let documents = open, !documents.isEmpty,
                let states = try? await server.states(of: documents.map { ($0.id, $0.beside.revisions) })
            else { continue }
            for (document, state) in zip(documents, states) {
                found[document.id] = await forget(document.id, document.tree, document.beside, state)
            }
        }
        return found
    }

    private func forget(
        _ id: DocumentID, _ tree: RevisionTree, _ beside: Beside, _ state: MobilePeer.DocumentState
    ) async -> FormerState? {
        guard let current = state.current, beside.leaves.contains(where: { $0.leaf == current }),
            let history = tree.history(of: current),
            let (replaced, formerState) = try? await judge(beside.without(current, history), state, id, history)
        else { return nil }
        _ = try? await database.perform { try $0.forgetReplaced(replaced, of: id) }
        return formerState
    }

    private static func liveLeaves(of tree: RevisionTree) -> [Database.EditedLeaf] {
        tree.leaves.filter { !$0.isDeleted }.map { ($0.revision, tree.sharedAncestor(of: $0.revision)) }
    }

    /// The leaves beside a server's revision, with the other ids under which the server may have each of them and the
    /// state that it was made on.
    private struct Beside: Sendable {
        private(set) var leaves: [Database.EditedLeaf]
        private var others: [RevisionID: [RevisionID]] = [:]

        init(_ leaves: [Database.EditedLeaf], others: (RevisionID) throws -> [RevisionID] = { _ in [] }) rethrows {
            self.leaves = leaves
            for leaf in leaves {
                for revision in [leaf.leaf, leaf.origin].compactMap(\.self) where self.others[revision] == nil {
                    self.others[revision] = try others(revision)
                }
            }
        }

        /// The ids under which the server may have a leaf or a state.
        func names(_ revision: RevisionID) -> [RevisionID] { [revision] + (others[revision] ?? []) }

        /// The revisions to ask the server about.
        var revisions: [RevisionID] {
            leaves.flatMap { leaf in
                names(leaf.leaf) + (leaf.origin.flatMap { $0 == leaf.leaf ? nil : names($0) } ?? [])
            }
        }

        /// The leaves beside one of them, without the ids in its history.
        func without(_ leaf: RevisionID, _ history: RevisionHistory) -> Beside {
            var rest = self
            rest.leaves.removeAll { $0.leaf == leaf }
            let known = Set(history.revisions)
            rest.others = others.mapValues { $0.filter { !known.contains($0) } }
            return rest
        }
    }

    /// The leaves that the server has. Also the state on which the remaining leaves were made, if they share one
    /// and the server has it under its id, or under the id of an edit that was sent as a child of a deletion.
    private func judge(
        _ beside: Beside, _ state: MobilePeer.DocumentState, _ id: DocumentID, _ history: RevisionHistory
    ) async throws -> (replaced: [RevisionID], formerState: FormerState?) {
        let known = Set(state.known)
        let isKnownLeaf = beside.leaves.map { beside.names($0.leaf).contains(where: known.contains) }
        let replaced = zip(beside.leaves, isKnownLeaf).filter(\.1).map(\.0.leaf)
        let origins = Set(zip(beside.leaves, isKnownLeaf).filter { !$0.1 }.map(\.0.origin))
        guard origins.count == 1, let origin = origins.first.flatMap(\.self), let current = state.current else {
            return (replaced, nil)
        }
        let isKnown: Bool
        if beside.names(origin).contains(where: known.contains) {
            isKnown = true
        } else {
            isKnown = try await wasSent(origin, of: id, in: history)
        }
        return (replaced, isKnown ? FormerState(former: origin, current: current) : nil)
    }

    private func wasSent(_ revision: RevisionID, of id: DocumentID, in history: RevisionHistory) async throws -> Bool {
        try await database.perform { database in
            var wasSent = false
            try database.forEachRevision([(id, revision, [])]) { stored in
                if let found = try? stored.get()?.revision { wasSent = MobileWinner.wasSent(found, in: history) }
                return false
            }
            return wasSent
        }
    }
}

extension MobilePeer {
    /// A server's answer about a document.
    typealias DocumentState = (current: RevisionID?, known: [RevisionID])

    /// The maximum number of rows in one request. A server of Settle takes 10,000, and a message of several MiB.
    private static let maximumRows = 2000
    /// A revision id that no document has. A server that is asked about it answers with its current revision.
    private static let absent = "1-00000000000000000000000000000000"

    /// Asks the server for the current revisions of documents, and which of some revisions it has.
    ///
    /// The rows are proposals that no server accepts, because none of them names the server's current revision as
    /// the parent.
    ///
    /// - Returns: The answer about each document; empty if the server refuses to answer.
    /// - Throws: ``PeerError`` if the server can't be reached.
    fileprivate func states(of documents: [(id: DocumentID, revisions: [RevisionID])]) async throws -> [DocumentState] {
        let names = documents.map { [Self.absent] + $0.revisions.map(\.description) }
        let rows = zip(documents, names).flatMap { document, names in
            names.map { JSONValue.array([.string(document.id.string), .string($0), .string($0)]) }
        }
        var answers: [MobileProposal.Answer] = []
        do {
            // A document may have many leaves, and each of them many ids.
            for start in stride(from: 0, to: rows.count, by: Self.maximumRows) {
                let part = Array(rows[start..<min(start + Self.maximumRows, rows.count)])
                let answer = try await connection().ask(
                    "proposeChanges", ["conflictIncludesRev": "true"], body: JSONValue.array(part).utf8)
                let given: JSONValue = answer.body.isEmpty ? [] : try JSONValue(utf8: answer.body)
                answers += part.indices.map { MobileProposal.Answer(given[$0]) }
            }
        } catch {
            let error = PeerError(error, at: name)
            if error.isTransient { throw error }
            return documents.map { _ in (nil, []) }
        }
        var next = 0
        return documents.map { document in
            defer { next += 1 + document.revisions.count }
            let known = zip(document.revisions, answers[(next + 1)...]).filter { $0.1.code == 304 }
            return (answers[next].current, known.map(\.0))
        }
    }
}
