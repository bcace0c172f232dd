package import SettleCore

/// Reads the documents in conflict page by page. Only this type reads their index.
///
///     var sweep = ConflictSweep(policy.kinds)
///     while case let page = try sweep.next(in: database), !page.isEmpty {
///         for id in page { report.add(try database.settle(id, using: policy)) }
///     }
///
/// It reads one kind after the other, each in the order of ids. The sweep is a value that contains its position, so
/// it may be kept and continued later. Documents that are settled meanwhile do not change the position.
package struct ConflictSweep: Sendable {
    /// The remaining kinds, always in the same order.
    private var kinds: [ConflictKind]
    private let range: DocumentRange
    /// The remaining range of the first kind.
    private var rest: DocumentRange
    private static let pageLength = 200

    /// Begins a sweep.
    ///
    /// - Parameters:
    ///   - kinds: The kinds to look for.
    ///   - range: The ids to look at; all by default.
    package init(_ kinds: Set<ConflictKind>, in range: DocumentRange = DocumentRange()) {
        self.kinds = ConflictKind.allCases.filter(kinds.contains)
        (self.range, rest) = (range, range)
    }

    /// Reads the next page.
    ///
    /// - Returns: The ids, ascending within a kind; empty at the end.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    package mutating func next(in database: Database) throws -> [DocumentID] {
        while let kind = kinds.first {
            let page = try database.conflictedDocumentIDs(kind, in: rest, limit: Self.pageLength)
            if let last = page.last {
                rest.after = last
                return page
            }
            kinds.removeFirst()
            rest = range
        }
        return []
    }

    /// Reads the next page off the caller's thread.
    package mutating func next(in database: Database) async throws -> [DocumentID] {
        let before = self
        let (page, after) = try await database.perform { database in
            var sweep = before
            let page = try sweep.next(in: database)
            return (page, sweep)
        }
        self = after
        return page
    }

    /// The first documents of all kinds together, in the order of ids; the position of the sweep stays the same.
    package func first(_ limit: Int, in database: Database) throws -> [DocumentID] {
        let ids = try kinds.flatMap { try database.conflictedDocumentIDs($0, in: left(of: $0), limit: limit) }
        return Array(ids.sorted().prefix(limit))
    }

    /// Whether no document remains, which the index shows quickly.
    package func isEmpty(in database: Database) throws -> Bool {
        try kinds.allSatisfy { try database.conflictedDocumentIDs($0, in: left(of: $0), limit: 1).isEmpty }
    }

    private func left(of kind: ConflictKind) -> DocumentRange { kind == kinds.first ? rest : range }
}
