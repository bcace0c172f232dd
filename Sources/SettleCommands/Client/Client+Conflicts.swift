internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
import SettleReplication
import SettleServer

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
        var sweep = ConflictSweep([kind])
        while case let page = try sweep.next(in: database), !page.isEmpty {
            for id in page {
                try Interruption.check()
                var state = try DocumentState(id, in: database)
                guard try body(&state) else { return }
            }
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

    /// The documents that may have several live leaves, by their ids: those of a folder's index, or a server's with more than
    /// one leaf.
    func documentsWithLeaves() throws -> [DocumentID] {
        var ids: [DocumentID] = []
        if let database {
            var sweep = ConflictSweep([.branches])
            while case let page = try sweep.next(in: database), !page.isEmpty { ids += page }
            return ids
        }
        try forEachElement("results", of: "_changes", query: ["style": "all_docs"]) { text in
            let row = try JSONValue(utf8: text)
            if let id = row["id"]?.string, (row["changes"]?.array?.count ?? 0) > 1 {
                ids.append(DocumentID(unchecked: id))
            }
            return true
        }
        return ids.sorted()
    }

    /// A document of a server with its deletions that contradict an edit. CouchDB does not tell which old tombstones are
    /// deletions; Settle does.
    func withDeletions(_ copy: DocumentCopy) throws -> DocumentCopy {
        let leaves = copy.tree.leaves
        let isOpen = leaves.contains { $0.isDeleted && !$0.marks.contains(.closing) && !$0.marks.contains(.deletion) }
        guard isOpen, leaves.contains(where: { !$0.isDeleted }), try isAtSettle() else { return copy }
        let path = HTTPPath.endpoint("_conflicts", about: copy.id)
        guard path.isExact else { return copy }
        let answer: JSONValue
        // A conflict with too many leaves is refused, and that is said when it is to be settled.
        do { answer = try json("GET", path, query: ["docs": "false", "tree": "none"], about: copy.id) } catch let error
            as CommandError where [.refused, .notFound].contains(error.status)
        { return copy }
        var copy = copy
        for leaf in answer["leaves"]?.array ?? [] where leaf["deleted"] == true {
            if let revision = leaf["rev"]?.string.flatMap({ RevisionID($0) }) { copy.mark(asDeletion: revision) }
        }
        return copy
    }
}

// MARK: - Settling

/// Settles conflicts: at a Settle server by its own call, so that its user's rights and functions count; at another server
/// by writing the revisions.
extension Client {
    /// Settles a document's conflict.
    ///
    /// - Returns: What became of it, as `settle resolve --json` says it.
    /// - Throws: ``CommandError``, ``DatabaseError``.
    func settle(_ state: inout DocumentState, by order: SettlementOrder) throws -> JSONValue {
        let path = HTTPPath.endpoint("_settle", about: state.id)
        guard path.isExact, !(state.id.isDesign && order.isInvented), try settlesItself() else {
            return SettlementJSON.settlement(try settle(&state, using: order.policy))
        }
        return try json("POST", path, body: order.request(about: try state.conflict()), about: state.id)
    }

    /// Settles a document's conflict in a folder, or by writing revisions.
    func settle(_ state: inout DocumentState, using policy: ConflictPolicy) throws -> Settlement {
        try state.settle(using: policy) { [self] state, writes in
            try store(
                try writes.map { write in
                    try onTheWay(
                        state, write.revision, on: write.parent, isDeleted: write.isDeleted, write.body,
                        write.attachments)
                })
        }
    }

    /// Has a Settle server settle all conflicts of some kinds by a policy, page by page.
    ///
    /// - Parameters:
    ///   - order: The policy.
    ///   - progress: Is given the counts after each page, and the page's failures.
    /// - Returns: The counts; `nil` when the server has no such call, or not for this user.
    /// - Throws: ``CommandError``, or what `progress` throws.
    func settlePages(
        by order: SettlementOrder,
        progress: (SettlementReport, [(id: DocumentID, error: CouchDBError)]) throws -> Void
    ) throws -> SettlementReport? {
        guard try settlesItself() else { return nil }
        var report = SettlementReport()
        var isFirst = true
        for kind in ConflictKind.allCases where order.policy.kinds.contains(kind) {
            var next: JSONValue = .null
            repeat {
                try Interruption.check()
                var request = order.request(about: nil)
                request["kind"] = kind == .branches ? "branches" : "deletions"
                request["startkey"] = next
                let answer: JSONValue
                // Administrators alone settle many in one call; others settle one after another.
                do { answer = try json("POST", "_settle", body: request) } catch let error as CommandError
                    where isFirst && ["unauthorized", "forbidden"].contains(error.code)
                { return nil }
                isFirst = false
                SettlementJSON.add(answer, to: &report)
                let failures = (answer["rows"]?.array ?? []).compactMap { row in
                    row["error"]?.string.map { error in
                        (
                            id: DocumentID(unchecked: row["id"]?.string ?? ""),
                            error: Self.failure(error, row["reason"]?.string)
                        )
                    }
                }
                try progress(report, failures)
                next = answer["next_startkey"] ?? .null
            } while !next.isNull
        }
        return report
    }

    /// Whether the server is Settle and the documents of the database have no rules of their own, by which it would settle
    /// them for administrators alone.
    private func settlesItself() throws -> Bool {
        guard database == nil, let name = url.databaseName, !name.hasPrefix("_"), !name.hasSuffix("/_replicator") else {
            return false
        }
        return try isAtSettle()
    }

    /// The failure of one document, as if it had been settled by itself.
    private static func failure(_ error: String, _ reason: String?) -> CouchDBError {
        let status =
            switch error {
            case "unauthorized": 401
            case "forbidden": 403
            case "not_found": 404
            case "conflict": 409
            case "missing_stub": 412
            case "document_too_large", "attachment_too_large", "too_large": 413
            case "bad_request": 400
            default: 500
            }
        return CouchDBError(status: status, error: error, reason: reason ?? "", method: "POST", path: "_settle")
    }
}
