internal import Settle

/// Finds the documents in conflict: by the index of a database on this machine, or among those with several leaves at a
/// server, whose changes tell how many a document has.
enum ConflictSearch {
    case local(Database)
    case remote(Client)

    /// How many documents of a server are looked at together.
    private static let together = 16

    /// How many documents there are of each kind.
    struct Counts: Sendable {
        var branches = 0
        var deletions = 0
    }

    /// Goes over the documents of some kinds, a kind after the other, each by their ids.
    ///
    /// - Parameters:
    ///   - kinds: The kinds in order.
    ///   - extent: What a server is asked for besides the leaves.
    ///   - body: Is given each document and where it is, and says whether to go on with this kind.
    /// - Returns: How many there are of both kinds.
    /// - Throws: ``CommandError``, ``DatabaseError``, or what `body` throws.
    @discardableResult
    func forEach(
        _ kinds: [ConflictKind], _ extent: DocumentFetch.Extent = .bases,
        _ body: (DocumentID, DocumentPlace) throws -> Bool
    ) throws -> Counts {
        switch self {
        case .local(let database):
            for kind in kinds { try Self.forEach(kind, in: database, body) }
            let info = try database.info()
            return Counts(branches: info.conflicts, deletions: info.contested)
        case .remote(let remote): return try Self.forEach(kinds, at: remote, extent, body)
        }
    }

    private static func forEach(
        _ kind: ConflictKind, in database: Database, _ body: (DocumentID, DocumentPlace) throws -> Bool
    ) throws {
        let place = DocumentPlace(database: database, replica: nil)
        var last: DocumentID?
        while case let page = try database.conflictedDocumentIDs(kind, after: last, limit: 500), let newest = page.last
        {
            for id in page {
                try Interruption.check()
                guard try body(id, place) else { return }
            }
            last = newest
        }
    }

    /// A server tells no kinds, so each document is looked at; those of the second kind are looked at again in their turn.
    private static func forEach(
        _ kinds: [ConflictKind], at remote: Client, _ extent: DocumentFetch.Extent,
        _ body: (DocumentID, DocumentPlace) throws -> Bool
    ) throws -> Counts {
        var ids = try remote.documentsWithLeaves()
        var found: [ConflictKind: [DocumentID]] = [:]
        let first = kinds.first ?? .branches
        var goesOn = !kinds.isEmpty
        var later: [DocumentID] = []
        func look(for kind: ConflictKind) throws {
            for start in stride(from: 0, to: ids.count, by: together) {
                try Interruption.check()
                let replica = try Replica(of: remote)
                let part = Array(ids[start..<min(start + together, ids.count)])
                try replica.load(part, extent)
                let place = DocumentPlace(database: replica.database, replica: replica)
                for id in part {
                    guard let tree = try replica.database.tree(of: id) else { continue }
                    let isConflicted = tree.isConflicted
                    guard isConflicted || tree.isContested else { continue }
                    let actual = isConflicted ? ConflictKind.branches : .deletion
                    if kind == first { found[actual, default: []].append(id) }
                    guard goesOn, actual == kind else { continue }
                    goesOn = try body(id, place)
                    // Where branches were settled, a deletion may stand against what stays.
                    let left = try replica.database.tree(of: id)
                    if actual == .branches, left?.isContested == true { later.append(id) }
                }
                if !goesOn, kind != first { return }
            }
        }
        try look(for: first)
        let counts = Counts(branches: found[.branches]?.count ?? 0, deletions: found[.deletion]?.count ?? 0)
        for kind in kinds.dropFirst() {
            (ids, goesOn) = (((found[kind] ?? []) + (kind == .deletion ? later : [])).sorted(), true)
            try look(for: kind)
        }
        return counts
    }
}

extension Client {
    /// The documents that have more than one leaf, by their ids.
    func documentsWithLeaves() throws -> [DocumentID] {
        var ids: [DocumentID] = []
        try forEachElement("results", of: "_changes", query: ["style": "all_docs"]) { text in
            let row = try JSON(utf8: text)
            if let id = row["id"]?.string, (row["changes"]?.array?.count ?? 0) > 1 {
                ids.append(DocumentID(unchecked: id))
            }
            return true
        }
        return ids.sorted()
    }
}
