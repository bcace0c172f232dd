internal import SettleCore

/// What a request wants to see of a document beside its members.
struct DocumentOptions: Sendable {
    var revision: WireRevision?
    var openRevisions: OpenRevisions = .none
    var hasRevisions = false
    var hasRevisionsInfo = false
    var hasConflicts = false
    var hasDeletedConflicts = false
    var hasLocalSequence = false
    var isDeletedWanted = false
    var isLatest = false
    var hasAttachments = false
    var hasEncodingInfo = false
    /// Contents of attachments come in later parts.
    var follows = false
    /// Whether the document is one of a list or a feed, which goes on where a content can't be read.
    var isInList = false
    /// Only attachments newer than the newest of these that the document descends from come with their content.
    var attachmentsSince: [WireRevision]?
    /// Whether a peer's revision is brought, `new_edits=false`.
    var isReplicated = false
    /// Where it is counted what is read.
    var metrics: Metrics?

    /// Which revisions `open_revs` asks for.
    enum OpenRevisions: Sendable {
        case none
        case all
        case some([WireRevision])
    }

    init() {}

    /// Reads the query of a document; what is unknown is ignored.
    init(_ context: RequestContext) throws {
        metrics = context.server.metrics
        for (name, value) in context.query.items { try take(name, value) }
    }

    private mutating func take(_ name: String, _ value: String) throws {
        switch (name, value) {
        case ("attachments", "true"): hasAttachments = true
        case ("meta", "true"): (hasRevisionsInfo, hasConflicts, hasDeletedConflicts) = (true, true, true)
        case ("revs", "true"): hasRevisions = true
        case ("revs_info", "true"): hasRevisionsInfo = true
        case ("local_seq", "true"): hasLocalSequence = true
        case ("conflicts", "true"): hasConflicts = true
        case ("deleted_conflicts", "true"): hasDeletedConflicts = true
        case ("deleted", "true"): isDeletedWanted = true
        case ("latest", "true"): isLatest = true
        case ("att_encoding_info", "true"): hasEncodingInfo = true
        case ("new_edits", "false"): isReplicated = true
        case ("new_edits", "true"): isReplicated = false
        case ("rev", _): revision = try WireRevision(value)
        case ("open_revs", "all"): openRevisions = .all
        case ("open_revs", _):
            let revisions = try Self.revisions(JSON(parsing: value))
            openRevisions = revisions.isEmpty ? .none : .some(revisions)
        case ("atts_since", _):
            attachmentsSince = try Self.revisions(JSON(parsing: value))
            hasAttachments = true
        default: break
        }
    }

    /// A list of revisions.
    static func revisions(_ list: JSON) throws -> [WireRevision] {
        guard let elements = list.array else { throw HTTPError.badRequest("Invalid list of revisions") }
        return try elements.map { try WireRevision($0) }
    }
}
