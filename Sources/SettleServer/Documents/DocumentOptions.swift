internal import SettleCore
internal import SettleHTTP
internal import SettleReplication

/// The requested representation of a document.
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
    /// Whether contents of attachments are sent in later parts.
    var follows = false
    /// Whether the document is one of a list or feed, which continues if an attachment can't be read.
    var isInList = false
    /// Only attachments newer than the newest of these ancestors are sent with their content.
    var attachmentsSince: [WireRevision]?
    /// Whether a replicated revision is written, `new_edits=false`.
    var isReplicated = false
    /// Whether numbers are spelled as they are stored, not as CouchDB prints them.
    var keepsNumbers = false
    /// Counts the documents read.
    var metrics: Metrics?

    /// The revisions of an `open_revs` parameter.
    enum OpenRevisions: Sendable {
        case none
        case all
        case some([WireRevision])
    }

    init() {}

    /// Reads the query of a document; what is unknown is ignored.
    init(_ context: any ReadContext) throws {
        metrics = context.metrics
        keepsNumbers = context.request.keepsNumbers
        for (name, value) in context.query.items { try parse(name, value) }
    }

    private mutating func parse(_ name: String, _ value: String) throws {
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
            let revisions = try Self.revisions(JSONValue(parsing: value))
            openRevisions = revisions.isEmpty ? .none : .some(revisions)
        case ("atts_since", _):
            attachmentsSince = try Self.revisions(JSONValue(parsing: value))
            hasAttachments = true
        default: break
        }
    }

    static func revisions(_ list: JSONValue) throws -> [WireRevision] {
        guard let elements = list.array else { throw HTTPError.badRequest("Invalid list of revisions") }
        return try elements.map { try WireRevision($0) }
    }
}

extension ServerRequest {
    /// Whether the client wants numbers as they are stored.
    var keepsNumbers: Bool { headers[NumberSpelling.header] == NumberSpelling.stored }
}
