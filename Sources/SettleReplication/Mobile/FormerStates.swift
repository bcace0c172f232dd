internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleMobile

/// Finds out what a server had before its current state: leaves here that the current state replaces, and the states that edits
/// here were made on.
///
/// A server of Couchbase Mobile's protocol sends a document's current revision alone. If another client has switched it to
/// another branch, nothing else says that the revision that came before has ended:
///
///     at the server    1 ─ 2 ─ 3-a ─ 4-deleted         here    1 ─ 2 ─ 3-a            came first: forgotten
///                          └── 3-f ─ 4-b                           └── 3-f ─ 4-b      comes now
///
/// So the server is asked which of the leaves it has. Those are not edits of this device that are still to be sent, and what
/// they say is kept or given up there. They are forgotten and not ended: the server may have them as open branches, which a
/// tombstone from here would close if another replication brought it there.
///
/// A server may also come back to a revision that was ended here, for a merge that was sent to it and that another client has
/// deleted since. Here that revision would count as known. What has ended it is forgotten, so that it comes again; see
/// `reopen(_:)`.
///
/// An edit of such a leaf is a conflict with the current state, whose common base may never have been here. The server is asked
/// whether it has had the leaf, which takes the base's place then; see `FormerState`.
struct FormerStates: Sendable {
    private let server: MobilePeer
    private let database: Database
    /// The number of documents that are asked about at a time.
    private static let maximumDocuments = 200
    /// How many ended branches of a document are tried as those that a leaf was sent on.
    private static let maximumParents = 20

    /// Creates it for a pull from such a server into a database of this process.
    init?(of source: any PeerOperations, at target: any PeerOperations) {
        guard let server = source as? MobilePeer, let database = target.database else { return nil }
        (self.server, self.database) = (server, database)
    }

    /// Notes in the server's revisions which leaves here they replace, and which state edits here were made on.
    ///
    /// - Throws: ``PeerError`` if the connection is lost; ``DatabaseError``.
    func markReplaced(in revisions: [PeerRevision]) async throws -> [PeerRevision] {
        let besides = try await database.perform { database in
            let leaves = try database.leaves(beside: revisions.map { ($0.id, $0.history) })
            return try zip(revisions, leaves).map { revision, leaves in
                guard !leaves.isEmpty, let tree = try database.tree(of: revision.id) else { return Beside(leaves) }
                let others = try leaves.map { leaf in
                    try Self.otherNames(of: leaf.leaf, in: tree, revision.id, but: revision.history, database)
                }
                return Beside(leaves, others)
            }
        }
        let divided = revisions.indices.filter { !besides[$0].leaves.isEmpty }
        var noted = revisions
        for start in stride(from: 0, to: divided.count, by: Self.maximumDocuments) {
            let places = divided[start..<min(start + Self.maximumDocuments, divided.count)]
            let states = try await server.states(
                of: places.map { place in
                    (revisions[place].id, Self.revisions(besides[place].leaves) + besides[place].others.flatMap(\.self))
                })
            // A revision that is no longer current is followed by the one that is.
            for (place, state) in zip(places, states) where state.current == revisions[place].revision {
                (noted[place].replaced, noted[place].formerState) = try await judge(
                    besides[place], state, revisions[place].id, revisions[place].history)
            }
        }
        return noted
    }

    /// Forgets what has ended revisions here that the server has come back to.
    ///
    ///     at the server    1 ─ 2-a                          here    1 ─ 2-a ─ 3-closed     the server's current one again
    ///                      └── 2-b ─ 3-x ─ 4-deleted                └── 2-b ─ 3-closed
    ///                                                               2-m ─ 3-m              was sent as 3-x
    ///
    /// That is done if the server has had all that is live here, so that no merge waits to be sent.
    ///
    /// - Parameter changes: The server's changes whose revisions are here.
    /// - Returns: Whether there are such revisions. They are no longer here.
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

    /// A document whose revision at the server has no live leaf here, and another one has.
    private struct Ended: Sendable {
        let id: DocumentID
        let current: RevisionID
        /// The tombstones that the server's revision leads to here.
        let ends: [RevisionID]
        /// The live leaves, each under all ids that the server may have it under.
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
        return Ended(
            id: change.id, current: current, ends: ends.map(\.revision),
            names: try live.map { leaf in
                [leaf.revision] + (try otherNames(of: leaf.revision, in: tree, change.id, but: history, database))
            })
    }

    /// The ids under which a leaf may have been sent as a child of a revision that was ended here, but those in the history of
    /// the server's current revision: that one has the leaf's content, or comes from it.
    private static func otherNames(
        of leaf: RevisionID, in tree: RevisionTree, _ id: DocumentID, but history: RevisionHistory, _ database: Database
    ) throws -> [RevisionID] {
        let parents = tree.leaves.filter { $0.isDeleted && $0.revision != leaf }.prefix(maximumParents)
            .compactMap { tree.parent(of: $0.revision) }
        guard !parents.isEmpty else { return [] }
        var names: [RevisionID] = []
        try database.forEachRevision([(id, leaf, [])]) { stored in
            if let found = try? stored.get()?.revision { names = MobileWinner.names(of: found, after: parents) }
            return false
        }
        return names.filter { !history.revisions.contains($0) }
    }

    /// Forgets the leaves of documents in conflict that the server's current revisions replace, if those are here.
    ///
    /// - Returns: The states that the edits here were made on, as far as they are known.
    func forget(_ ids: [DocumentID]) async -> [DocumentID: FormerState] {
        var found: [DocumentID: FormerState] = [:]
        for start in stride(from: 0, to: ids.count, by: Self.maximumDocuments) {
            let part = ids[start..<min(start + Self.maximumDocuments, ids.count)]
            guard let trees = try? await database.perform({ database in try part.map { try database.tree(of: $0) } })
            else { continue }
            let documents = zip(part, trees).compactMap { id, tree in
                tree.map { (id: id, tree: $0, leaves: Self.liveLeaves(of: $0)) }
            }.filter { $0.leaves.count > 1 }
            guard !documents.isEmpty,
                let states = try? await server.states(of: documents.map { ($0.id, Self.revisions($0.leaves)) })
            else { continue }
            for (document, state) in zip(documents, states) {
                found[document.id] = await forget(document.id, document.tree, document.leaves, state)
            }
        }
        return found
    }

    private func forget(
        _ id: DocumentID, _ tree: RevisionTree, _ leaves: [Database.EditedLeaf], _ state: MobilePeer.DocumentState
    ) async -> FormerState? {
        guard let current = state.current, leaves.contains(where: { $0.leaf == current }),
            let history = tree.history(of: current),
            let (replaced, formerState) = try? await judge(
                Beside(leaves.filter { $0.leaf != current }), state, id, history)
        else { return nil }
        _ = try? await database.perform { try $0.forgetReplaced(replaced, of: id) }
        return formerState
    }

    private static func liveLeaves(of tree: RevisionTree) -> [Database.EditedLeaf] {
        tree.leaves.filter { !$0.isDeleted }.map { ($0.revision, tree.sharedAncestor(of: $0.revision)) }
    }

    /// The leaves beside a revision of the server, and the other ids that the server may have each of them under.
    private struct Beside: Sendable {
        let leaves: [Database.EditedLeaf]
        let others: [[RevisionID]]

        init(_ leaves: [Database.EditedLeaf], _ others: [[RevisionID]] = []) {
            (self.leaves, self.others) = (leaves, others)
        }

        func names(_ index: Int) -> [RevisionID] {
            [leaves[index].leaf] + (index < others.count ? others[index] : [])
        }
    }

    /// What the server is asked about.
    private static func revisions(_ leaves: [Database.EditedLeaf]) -> [RevisionID] {
        leaves.flatMap { $0.origin == $0.leaf ? [$0.leaf] : [$0.leaf, $0.origin].compactMap(\.self) }
    }

    /// The leaves that the server has, and the state that the others were made on, if it is one and the server has it: under its
    /// id, or under that of an edit which was sent as a child of a deletion.
    private func judge(
        _ beside: Beside, _ state: MobilePeer.DocumentState, _ id: DocumentID, _ history: RevisionHistory
    ) async throws -> (replaced: [RevisionID], formerState: FormerState?) {
        let known = Set(state.known)
        let isKnownLeaf = beside.leaves.indices.map { beside.names($0).contains(where: known.contains) }
        let replaced = zip(beside.leaves, isKnownLeaf).filter(\.1).map(\.0.leaf)
        let origins = Set(zip(beside.leaves, isKnownLeaf).filter { !$0.1 }.map(\.0.origin))
        guard origins.count == 1, let origin = origins.first.flatMap(\.self), let current = state.current else {
            return (replaced, nil)
        }
        let isKnown: Bool
        if known.contains(origin) { isKnown = true } else { isKnown = try await wasSent(origin, of: id, in: history) }
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
    /// What a server says of a document.
    typealias DocumentState = (current: RevisionID?, known: [RevisionID])

    /// A revision that no document has. A server that is asked about it names its current one.
    private static let absent = "1-00000000000000000000000000000000"

    /// Asks the server for the current revisions of documents, and which of some revisions it has.
    ///
    /// The rows are proposals that no server wants, because none of the named revisions is its current one.
    ///
    /// - Returns: What it says of each document; nothing is known where it refuses to answer.
    /// - Throws: ``PeerError`` if the server can't be reached.
    fileprivate func states(of documents: [(id: DocumentID, revisions: [RevisionID])]) async throws -> [DocumentState] {
        let names = documents.map { [Self.absent] + $0.revisions.map(\.description) }
        let rows = zip(documents, names).flatMap { document, names in
            names.map { JSONValue.array([.string(document.id.string), .string($0), .string($0)]) }
        }
        let answers: JSONValue
        do {
            let answer = try await connection().ask(
                "proposeChanges", ["conflictIncludesRev": "true"], body: JSONValue.array(rows).utf8)
            answers = answer.body.isEmpty ? [] : try JSONValue(utf8: answer.body)
        } catch {
            let error = PeerError(error, at: name)
            if error.isTransient { throw error }
            return documents.map { _ in (nil, []) }
        }
        var next = 0
        return documents.map { document in
            defer { next += 1 + document.revisions.count }
            let first = MobileProposal.Answer(answers[next])
            let known = document.revisions.indices.filter { MobileProposal.Answer(answers[next + 1 + $0]).code == 304 }
            return (first.current, known.map { document.revisions[$0] })
        }
    }
}
