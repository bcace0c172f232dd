internal import SettleCore
internal import SettleDatabase
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
/// An edit of such a leaf is a conflict with the current state, whose common base may never have been here. The server is asked
/// whether it has had the leaf, which takes the base's place then; see `FormerState`.
struct FormerStates: Sendable {
    private let server: MobilePeer
    private let database: Database
    /// How many documents are asked about at a time.
    private static let mostDocuments = 200

    /// Creates it for a pull from such a server into a database of this process.
    init?(of source: any PeerOperations, at target: any PeerOperations) {
        guard let server = source as? MobilePeer, let database = target.database else { return nil }
        (self.server, self.database) = (server, database)
    }

    /// Notes in the server's revisions which leaves here they replace, and which state edits here were made on.
    ///
    /// - Throws: ``PeerError`` if the connection is lost; ``DatabaseError``.
    func note(in revisions: [PeerRevision]) async throws -> [PeerRevision] {
        let besides = try await database.perform { database in
            try database.leaves(beside: revisions.map { ($0.id, $0.history) })
        }
        let divided = revisions.indices.filter { !besides[$0].isEmpty }
        var noted = revisions
        for start in stride(from: 0, to: divided.count, by: Self.mostDocuments) {
            let places = divided[start..<min(start + Self.mostDocuments, divided.count)]
            let states = try await server.states(of: places.map { (revisions[$0].id, Self.revisions(besides[$0])) })
            // A revision that is not current any more is followed by the one that is.
            for (place, state) in zip(places, states) where state.current == revisions[place].revision {
                (noted[place].replaced, noted[place].formerState) = try await judge(
                    besides[place], state, revisions[place].id, revisions[place].history)
            }
        }
        return noted
    }

    /// Forgets the leaves of a document in conflict that the server's current revision replaces, if that one is here.
    ///
    /// - Returns: The state that the edits here were made on; `nil` if that is not known.
    func forget(_ id: DocumentID) async -> FormerState? {
        guard let tree = try? await database.perform({ try $0.tree(of: id) }) else { return nil }
        let leaves: [Database.EditedLeaf] = tree.leaves.filter { !$0.isDeleted }.map { leaf in
            (leaf.revision, tree.sharedAncestor(of: leaf.revision))
        }
        guard leaves.count > 1,
            let state = try? await server.states(of: [(id, Self.revisions(leaves))]).first, let current = state.current,
            leaves.contains(where: { $0.leaf == current }), let history = tree.history(of: current),
            let (replaced, formerState) = try? await judge(leaves.filter { $0.leaf != current }, state, id, history)
        else { return nil }
        _ = try? await database.perform { try $0.forgetReplaced(replaced, of: id) }
        return formerState
    }

    /// What the server is asked about.
    private static func revisions(_ leaves: [Database.EditedLeaf]) -> [RevisionID] {
        leaves.flatMap { $0.origin == $0.leaf ? [$0.leaf] : [$0.leaf, $0.origin].compactMap(\.self) }
    }

    /// The leaves that the server has, and the state that the others were made on, if it is one and the server has it: under its
    /// id, or under that of an edit which was sent as a child of a deletion.
    private func judge(
        _ leaves: [Database.EditedLeaf], _ state: MobilePeer.DocumentState, _ id: DocumentID, _ history: RevisionHistory
    ) async throws -> (replaced: [RevisionID], formerState: FormerState?) {
        let known = Set(state.known)
        let replaced = leaves.map(\.leaf).filter(known.contains)
        let origins = Set(leaves.filter { !known.contains($0.leaf) }.map(\.origin))
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
                if let found = try? stored.get() { wasSent = MobileWinner.wasSent(found, in: history) }
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
