internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// Finds the leaves here that are former states of a server, which its current state replaces.
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

    /// Notes in the server's revisions which leaves here they replace.
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
            let states = try await server.states(of: places.map { (revisions[$0].id, besides[$0]) })
            // A revision that is not current any more is followed by the one that is.
            for (place, state) in zip(places, states) where state.current == revisions[place].revision {
                noted[place].replaced = state.known
            }
        }
        return noted
    }

    /// Forgets the leaves of a document in conflict that the server's current revision replaces, if that one is here.
    func forget(_ id: DocumentID) async {
        let leaves = try? await database.perform { database in
            try database.tree(of: id)?.leaves.filter { !$0.isDeleted }.map(\.revision) ?? []
        }
        guard let leaves, leaves.count > 1, let state = try? await server.states(of: [(id, leaves)]).first,
            let current = state.current, leaves.contains(current)
        else { return }
        let replaced = state.known.filter { $0 != current }
        _ = try? await database.perform { try $0.forgetReplaced(replaced, of: id) }
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
