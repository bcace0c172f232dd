internal import RevisionTree

/// Looks which revisions would become branches beside the leaves that a server has.
///
/// The winners come from `_all_docs`, for all documents at once; of documents whose winner is in the way all leaves are asked
/// for, by `_changes` with their ids.
struct BranchCheck {
    let calls: PeerCalls
    /// CouchDB looks up so many ids of a `_doc_ids` filter; beyond that it reads through all changes.
    private static let idsAtOnce = 100

    /// The revisions that follow none of the server's leaves, and why they are refused.
    func refusals(of revisions: [PeerRevision]) async throws -> [(Int, PeerError)] {
        let places = Dictionary(grouping: revisions.indices) { revisions[$0].id }
        let winners = try await winners(of: Array(places.keys))
        var suspects: [DocumentID] = []
        var refused: [(Int, PeerError)] = []
        for (id, indices) in places {
            let leaves = winners[id].map { [$0] } ?? []
            let branches = branches(indices, revisions, beside: leaves)
            guard !branches.isEmpty else { continue }
            if leaves.isEmpty { refused += branches } else { suspects.append(id) }
        }
        for start in stride(from: 0, to: suspects.count, by: Self.idsAtOnce) {
            let ids = suspects[start...].prefix(Self.idsAtOnce)
            let leaves = try await leaves(of: Array(ids))
            for id in ids { refused += branches(places[id] ?? [], revisions, beside: leaves[id] ?? []) }
        }
        return refused
    }

    /// Which revisions of one document would be branches, taken one after the other.
    private func branches(
        _ indices: [Int], _ revisions: [PeerRevision], beside leaves: [RevisionID]
    ) -> [(Int, PeerError)] {
        var leaves = leaves
        var refused: [(Int, PeerError)] = []
        for index in indices {
            let revision = revisions[index]
            let path = revision.history.revisions
            if let first = leaves.first, !leaves.contains(where: path.contains) {
                let message =
                    "\(revision.revision) of \"\(revision.id)\" does not follow \(first), which \(calls.place()) has, and "
                    + "branches are refused; pull, settle, and push again"
                refused.append((index, PeerError(.conflict, message, status: 409)))
                continue
            }
            leaves = leaves.filter { !path.contains($0) } + [revision.revision]
        }
        return refused
    }

    private func winners(of ids: [DocumentID]) async throws -> [DocumentID: RevisionID] {
        let body = JSON.object(["keys": .array(ids.map { .string($0.string) })]).utf8
        let response = try await calls.stream("POST", "_all_docs", json: body)
        var winners: [DocumentID: RevisionID] = [:]
        _ = try await calls.elements(of: response, "_all_docs", "rows", longest: 1 << 20) { element in
            guard case .bytes(let text) = element else { return true }
            let row = try JSON(utf8: text)
            if let id = row["id"]?.string, let revision = row["value"]?["rev"]?.string.flatMap({ RevisionID($0) }) {
                winners[DocumentID(unchecked: id)] = revision
            }
            return true
        }
        return winners
    }

    private func leaves(of ids: [DocumentID]) async throws -> [DocumentID: [RevisionID]] {
        let asked = ChangesQuery(ChangesRequest(limit: ids.count, filter: .documents(ids)), heartbeat: nil)
        let response = try await calls.stream("POST", "_changes", query: asked.query, json: asked.body)
        var leaves: [DocumentID: [RevisionID]] = [:]
        _ = try await calls.elements(of: response, "_changes", "results", longest: 16 << 20) { element in
            guard case .bytes(let text) = element else { return true }
            if let change = try ChangeRow(text, before: .start).change { leaves[change.id] = change.leaves }
            return true
        }
        return leaves
    }
}
