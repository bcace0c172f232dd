internal import SettleCore
internal import SettleDatabase

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension OfflineSession {
    private static var page: Int { 200 }
    private static var budget: Int { 8 << 20 }

    /// Fetches the changes of other clients: the server's winner replaces all local leaves of each document.
    /// Documents with pending operations are skipped, and fetched the next time.
    ///
    /// - Returns: The server's time when the fetch began.
    /// - Throws: ``PeerError``, or ``DatabaseError`` of the storage.
    func fetchChanges() async throws -> Date {
        let time = options.time(try await server.time())
        try await recordUndoneCreate()
        var (position, isWhole) = (records.since, true)
        while true {
            let page = try await server.peer.changes(ChangesRequest(since: position, limit: Self.page))
            for part in try await wanted(page.changes) { if !(try await bring(part)) { isWhole = false } }
            position = page.last
            if isWhole { try remember { [position] in $0.since = position } }
            if page.changes.isEmpty || page.pending == 0 { break }
            try Task.checkCancellation()
        }
        return time
    }

    /// The winners that are not the document's only local leaf.
    private func wanted(_ changes: [ChangedDocument]) async throws -> [RevisionRequest] {
        try await database.perform { database in
            try changes.compactMap { change in
                guard let winner = change.leaves.first else { return nil }
                let leaves = try database.tree(of: change.id)?.leaves.map(\.revision) ?? []
                guard leaves != [winner] else { return nil }
                return RevisionRequest(id: change.id, revision: winner)
            }
        }
    }

    /// Fetches one document; returns whether the local one is up to date.
    private func bring(_ request: RevisionRequest) async throws -> Bool {
        let id = request.id
        guard try await database.perform({ [journal] _ in try journal.history(of: id).isEmpty }) else { return false }
        guard let answer = try await server.peer.revisions([request], budget: Self.budget).first else { return true }
        switch answer {
        case .missing: return true
        case .failed(let error), .refused(let error): throw error
        case .found(let revision):
            guard let outcome = try await LocalPeer(database).store([revision], branching: .allowed).first else {
                return true
            }
            switch outcome {
            case .refused(let error), .failed(let error): throw error
            case .stored, .known: break
            }
            return try await database.perform { [journal] _ in try journal.adopt(revision.revision, of: id) }
        }
    }
}
