internal import SettleCore

/// Finds documents that would get a new branch at a server, from the winners in `_all_docs`.
///
/// The rule is that of ``Peer/store(_:branching:)`` for a local database, as far as winners show it: one of a
/// document's revisions has to descend from the server's winner, and at most one live leaf may be among them.
struct BranchCheck {
    let calls: PeerCalls

    /// The refused revisions and the reasons; the revisions of one document are refused together.
    func refusals(of revisions: [PeerRevision]) async throws -> [(Int, PeerError)] {
        let places = Dictionary(grouping: revisions.indices) { revisions[$0].id }
        let winners = try await winners(of: Array(places.keys))
        return places.flatMap { id, indices in
            let winner = winners[id]
            let news = indices.filter { revisions[$0].revision != winner }
            guard !news.isEmpty, makesBranch(news.map { revisions[$0] }, beside: winner) else {
                return [(Int, PeerError)]()
            }
            let stored = winner.map { "\($0), which is at \(calls.place())" } ?? "one another"
            return news.map { index in
                let message =
                    "\(revisions[index].revision) of \"\(id)\" was made apart from \(stored), and branches are refused; "
                    + "pull, settle, and push again"
                return (index, PeerError(.conflict, message, status: 409))
            }
        }
    }

    private func makesBranch(_ news: [PeerRevision], beside winner: RevisionID?) -> Bool {
        if let winner, !news.contains(where: { $0.history.revisions.contains(winner) }) { return true }
        let inner = Set(news.flatMap { $0.history.revisions.dropFirst() })
        return news.count { !$0.isDeleted && !inner.contains($0.revision) } > 1
    }

    private func winners(of ids: [DocumentID]) async throws -> [DocumentID: RevisionID] {
        let body = JSONValue.object(["keys": .array(ids.map { .string($0.string) })]).utf8
        let response = try await calls.stream("POST", "_all_docs", json: body)
        var winners: [DocumentID: RevisionID] = [:]
        _ = try await calls.elements(of: response, "_all_docs", "rows", longest: 1 << 20) { element in
            guard case .bytes(let text) = element else { return true }
            let row = try JSONValue(utf8: text)
            if let id = row["id"]?.string, let revision = row["value"]?["rev"]?.string.flatMap({ RevisionID($0) }) {
                winners[DocumentID(unchecked: id)] = revision
            }
            return true
        }
        return winners
    }
}
