internal import SettleCore
internal import SettleDatabase

/// Everything that determines the rows of a feed: feeds of one kind send the same bytes for the same changes.
///
/// Read access is the same for all rows of a database, so it is not part of this. A filter function sees the request, so feeds
/// with one share no kind; and rows with attachments are too large to be kept.
struct FeedKind: Hashable, Sendable {
    private enum Filter: Hashable {
        case all
        case ids(Set<DocumentID>)
        case design
        case selector(MangoSelector, [String]?)
    }

    private let feed: ChangesQuery.Feed
    private let subject: ChangesQuery.Subject
    private let hasAllLeaves: Bool
    private let hasDocuments: Bool
    private let hasConflicts: Bool
    private let hasEncodingInfo: Bool
    private let keepsNumbers: Bool
    private let filter: Filter

    /// The kind of a waiting feed.
    ///
    /// - Returns: `nil` for a feed that shares its rows with no other.
    init?(_ query: ChangesQuery, _ filter: ChangesFilter) {
        guard query.feed != .normal, !query.isDescending, !query.documents.hasAttachments else { return nil }
        switch filter {
        case .all: self.filter = .all
        case .ids(let ids): self.filter = .ids(ids)
        case .design: self.filter = .design
        case .selector(let selector, let projection): self.filter = .selector(selector, projection?.fields)
        case .script: return nil
        }
        feed = query.feed
        subject = query.subject
        hasAllLeaves = query.hasAllLeaves
        hasDocuments = query.hasDocuments
        hasConflicts = query.documents.hasConflicts
        hasEncodingInfo = query.documents.hasEncodingInfo
        keepsNumbers = query.documents.keepsNumbers
    }
}
