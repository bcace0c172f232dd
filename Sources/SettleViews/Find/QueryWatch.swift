internal import SettleCore
internal import SettleDatabase

/// What a live query has read, and whether later changes can matter to it.
///
///     change of …                                        the query
///     a document of the result                           runs again
///     a document that matches the conditions now         runs again
///     any other document                                 need not
///
/// A document that matched before and was not in the result was beyond the limit, so its change moves nothing before it. That
/// is different if documents are skipped: then each change runs the query, as with a search for texts, after more changes than
/// running it is worth, and after purges of documents of the result.
struct QueryWatch: Sendable {
    /// After how many changes looking at each costs more than running the query.
    private static let few = 200

    /// The sequence up to which changes are in the result, or can't matter to it.
    private(set) var sequence: UpdateSequence
    private var purges: Int64
    /// What distinguishes the rows, to detect changes.
    let marks: [String]
    private let ids: Set<DocumentID>
    /// The conditions, unless each change runs the query.
    private let selector: MangoSelector?

    init(_ found: [FoundDocument], _ options: FindOptions, at sequence: UpdateSequence, in database: Database) throws {
        self.sequence = sequence
        purges = try PurgeLog.count(in: database)
        marks = found.map(\.mark)
        ids = Set(found.map(\.id))
        let isSimple = options.skip == 0 && options.bookmark == nil && options.selector.searches.isEmpty
        selector = isSimple ? options.selector : nil
    }

    /// Looks at the changes since then.
    ///
    /// - Returns: Whether the query has to run again. If not, the changes are not looked at again.
    /// - Throws: ``DatabaseError`` when the database can't be read.
    mutating func hasToRun(in database: Database) throws -> Bool {
        guard let selector else { return true }
        let newest = try database.lastSequence()
        let range = SequenceRange(after: sequence, through: newest)
        guard try database.count(changedIn: range) <= Self.few else { return true }
        let purged = try PurgeLog.purged(after: purges, in: database)
        guard let purged, ids.isDisjoint(with: purged) else { return true }
        var matters = false
        try database.forEachChange(in: range, includingDocuments: true) { change in
            matters =
                ids.contains(change.id) || (change.document.map { !change.isDeleted && selector.matches($0) } ?? false)
            return !matters
        }
        if !matters {
            sequence = newest
            purges += Int64(purged.count)
        }
        return matters
    }
}

extension FoundDocument {
    /// Identifies the row and its content, to detect changes.
    var mark: String {
        switch self {
        case .whole(let record): "\(record.tree.winner?.revision.description ?? "") \(record.id)"
        case .part(let json, let id): "\(id) \(json)"
        }
    }
}
