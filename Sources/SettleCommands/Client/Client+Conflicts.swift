internal import Settle

/// Finds the documents in conflict: by the index of a folder's database, or among those with several leaves at a server, whose
/// changes tell how many a document has.
extension Client {
    /// How many documents in conflict there are of each kind.
    struct ConflictCounts: Sendable {
        var branches = 0
        var deletions = 0
    }

    /// How many documents of a server are looked at together.
    private static var together: Int { 16 }

    /// Goes over the documents of some kinds, a kind after the other, each by their ids.
    ///
    /// - Parameters:
    ///   - kinds: The kinds in order.
    ///   - extent: What a server is asked for besides the leaves.
    ///   - body: Is given each document, and says whether to go on with this kind.
    /// - Returns: How many there are of both kinds.
    /// - Throws: ``CommandError``, ``DatabaseError``, or what `body` throws.
    @discardableResult
    func forEachConflict(
        _ kinds: [ConflictKind], _ extent: DocumentFetch.Extent = .bases,
        _ body: (inout DocumentState) throws -> Bool
    ) throws -> ConflictCounts {
        guard let database else { return try forEachConflictAtServer(kinds, extent, body) }
        for kind in kinds { try forEachConflict(kind, in: database, body) }
        let info = try database.info()
        return ConflictCounts(branches: info.conflicts, deletions: info.contested)
    }

    private func forEachConflict(
        _ kind: ConflictKind, in database: Database, _ body: (inout DocumentState) throws -> Bool
    ) throws {
        var last: DocumentID?
        while case let page = try database.conflictedDocumentIDs(kind, after: last, limit: 500), let newest = page.last
        {
            for id in page {
                try Interruption.check()
                var state = try DocumentState(id, in: database)
                guard try body(&state) else { return }
            }
            last = newest
        }
    }

    /// A server tells no kinds, so each document is looked at; those of the second kind are looked at again in their turn.
    private func forEachConflictAtServer(
        _ kinds: [ConflictKind], _ extent: DocumentFetch.Extent,
        _ body: (inout DocumentState) throws -> Bool
    ) throws -> ConflictCounts {
        var ids = try documentsWithLeaves()
        var found: [ConflictKind: [DocumentID]] = [:]
        let first = kinds.first ?? .branches
        var goesOn = !kinds.isEmpty
        var later: [DocumentID] = []
        func look(for kind: ConflictKind) throws {
            for start in stride(from: 0, to: ids.count, by: Self.together) {
                try Interruption.check()
                let part = Array(ids[start..<min(start + Self.together, ids.count)])
                for var state in try states(of: part, extent) {
                    let isConflicted = state.tree.isConflicted
                    guard isConflicted || state.tree.isContested else { continue }
                    let actual = isConflicted ? ConflictKind.branches : .deletion
                    if kind == first { found[actual, default: []].append(state.id) }
                    guard goesOn, actual == kind else { continue }
                    goesOn = try body(&state)
                    // Where branches were settled, a deletion may stand against what stays.
                    if actual == .branches, state.tree.isContested { later.append(state.id) }
                }
                if !goesOn, kind != first { return }
            }
        }
        try look(for: first)
        let counts = ConflictCounts(branches: found[.branches]?.count ?? 0, deletions: found[.deletion]?.count ?? 0)
        for kind in kinds.dropFirst() {
            (ids, goesOn) = (((found[kind] ?? []) + (kind == .deletion ? later : [])).sorted(), true)
            try look(for: kind)
        }
        return counts
    }

    /// The documents that have more than one leaf, by their ids.
    func documentsWithLeaves() throws -> [DocumentID] {
        var ids: [DocumentID] = []
        try forEachElement("results", of: "_changes", query: ["style": "all_docs"]) { text in
            let row = try JSONValue(utf8: text)
            if let id = row["id"]?.string, (row["changes"]?.array?.count ?? 0) > 1 {
                ids.append(DocumentID(unchecked: id))
            }
            return true
        }
        return ids.sorted()
    }
}
