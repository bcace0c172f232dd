internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
import SettleReplication
import SettleServer

/// Finds the documents in conflict: by the index of a Settle server, or among those with several leaves at another one, whose
/// changes tell how many a document has.
extension Client {
    /// How many documents in conflict there are of each kind.
    struct ConflictCounts: Sendable {
        var branches = 0
        var deletions = 0
    }

    /// How many ids are listed at once.
    static var idsAtOnce: Int { 1000 }
    /// How many documents are looked at together.
    private static var documentsAtOnce: Int { 100 }

    /// Goes over the documents of some kinds, a kind after the other, each by their ids.
    ///
    /// - Parameters:
    ///   - kinds: The kinds in order.
    ///   - extent: What is asked for besides the leaves.
    ///   - body: Is given each document, and says whether to go on with this kind.
    /// - Returns: How many there are of both kinds.
    /// - Throws: ``CommandError``, ``DatabaseError``, or what `body` throws.
    @discardableResult
    func forEachConflict(
        _ kinds: [ConflictKind], _ extent: DocumentFetch.Extent = .bases,
        _ body: (inout DocumentState) throws -> Bool
    ) throws -> ConflictCounts {
        guard try isAtSettle() else { return try forEachConflictOfCouchDB(kinds, extent, body) }
        for kind in kinds {
            try forEachPage(of: kind) { ids in
                for part in ids.parts(of: Self.documentsAtOnce) {
                    guard try forEachState(of: part, extent, body) else { return false }
                }
                return true
            }
        }
        return ConflictCounts(branches: try count(.branches), deletions: try count(.deletion))
    }

    private func count(_ kind: ConflictKind) throws -> Int {
        let query: HTTPQuery = ["kind": SettlementJSON.kinds(kind), "limit": "0"]
        return try json("GET", "_conflicts", query: query)["total_rows"]?.int ?? 0
    }

    /// Goes over the ids of the documents of a kind as a Settle server lists them, a page at a time.
    private func forEachPage(of kind: ConflictKind, _ body: ([DocumentID]) throws -> Bool) throws {
        let length = Self.idsAtOnce
        var query: HTTPQuery = ["kind": SettlementJSON.kinds(kind), "values": "false", "limit": "\(length)"]
        var last: String?
        while true {
            try Interruption.check()
            query["startkey"] = last.map { JSONValue.string($0).description }
            let rows = try json("GET", "_conflicts", query: query)["rows"]?.array ?? []
            // A page begins with the last document of the one before, unless that was settled meanwhile.
            let ids = rows.compactMap { $0["id"]?.string }.filter { $0 != last }
            guard try body(ids.map { DocumentID(unchecked: $0) }), rows.count == length else { return }
            last = ids.last
        }
    }

    /// CouchDB tells no kinds, so each document is looked at; those of the second kind are looked at again in their turn.
    private func forEachConflictOfCouchDB(
        _ kinds: [ConflictKind], _ extent: DocumentFetch.Extent,
        _ body: (inout DocumentState) throws -> Bool
    ) throws -> ConflictCounts {
        var ids = try documentsWithLeaves()
        var found: [ConflictKind: [DocumentID]] = [:]
        let first = kinds.first ?? .branches
        var goesOn = !kinds.isEmpty
        var later: [DocumentID] = []
        func look(for kind: ConflictKind) throws {
            for part in ids.parts(of: Self.documentsAtOnce) {
                let goesFurther = try forEachState(of: part, extent) { state in
                    let isConflicted = state.tree.isConflicted
                    guard isConflicted || state.tree.isContested else { return true }
                    let actual = isConflicted ? ConflictKind.branches : .deletion
                    if kind == first { found[actual, default: []].append(state.id) }
                    guard goesOn, actual == kind else { return true }
                    goesOn = try body(&state)
                    // Where branches were settled, a deletion may stand against what stays.
                    if actual == .branches, state.tree.isContested { later.append(state.id) }
                    return goesOn || kind == first
                }
                if !goesFurther { return }
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

    /// The documents that may have several live leaves, by their ids: those of a Settle server's index, or another server's with
    /// more than one leaf.
    func documentsWithLeaves() throws -> [DocumentID] {
        var ids: [DocumentID] = []
        if try isAtSettle() {
            try forEachPage(of: .branches) { page in
                ids += page
                return true
            }
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
}

extension Array {
    /// Its elements in order, in arrays of at most `count`.
    func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
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

    /// Settles a document's conflict by writing revisions.
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
                request["kind"] = .string(SettlementJSON.kinds(kind))
                request["startkey"] = next
                let answer: JSONValue
                // Administrators alone settle many in one call; others settle one after another.
                do { answer = try json("POST", "_settle", body: request) } catch let error as CommandError
                    where isFirst && ["unauthorized", "forbidden"].contains(error.code)
                { return nil }
                isFirst = false
                SettlementJSON.add(answer, to: &report)
                let failures = (answer["rows"]?.array ?? []).compactMap { row in
                    Self.failure(row).map { (id: DocumentID(unchecked: row["id"]?.string ?? ""), error: $0) }
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
        guard let name = url.databaseName, !ReplicatorDocuments.isOfSystem(name) else { return false }
        return try isAtSettle()
    }

    /// The error of one document of a batch: the same as when the document is settled alone.
    private static func failure(_ row: JSONValue) -> CouchDBError? {
        row["error"]?.string.map { error in
            CouchDBError(
                status: row["status"]?.int ?? 500, error: error, reason: row["reason"]?.string ?? "", method: "POST",
                path: "_settle")
        }
    }
}
