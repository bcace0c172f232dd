internal import SettleCore
internal import SettleDatabase

/// A filter, prepared for a database of this process.
enum LocalFilter: Sendable {
    case all
    case documents(Set<DocumentID>)
    case selector(MangoSelector)
    case function(ReplicationFilterFunction, [String: JSONValue])

    /// Prepares a filter for a database.
    init(_ filter: ReplicationFilter, of database: Database, name: String) throws {
        try filter.check()
        switch filter {
        case .all: self = .all
        case .documents(let ids): self = .documents(Set(ids))
        case .selector(let selector): self = .selector(selector)
        case .named(let filter, let parameters):
            guard let function = database.replicationFilter(filter)?.function else {
                throw PeerError(
                    .notFound,
                    """
                    no replication filter \"\(filter)\" is registered for \(name); register it with addReplicationFilter \
                    before the replication starts
                    """, status: 404)
            }
            self = .function(function, parameters)
        case .channels:
            throw PeerError(
                .badRequest,
                "\(name) has no channels: they are Sync Gateway's; filter by ids, a selector or a registered function",
                status: 400)
        }
    }

    /// Whether every document passes.
    var passesAll: Bool { if case .all = self { true } else { false } }

    /// Whether the filter reads documents.
    var needsDocuments: Bool {
        switch self {
        case .all, .documents: false
        case .selector, .function: true
        }
    }

    /// Whether a changed document takes part: decided on its winner, tombstones included (SEMANTICS 129, 131). A
    /// damaged document passes, so that it is listed as failed.
    func passes(_ change: Change) throws -> Bool {
        switch self {
        case .all: true
        case .documents(let ids): ids.contains(change.id)
        case .selector(let selector): change.document.map(selector.matches) ?? true
        case .function(let function, let parameters): try change.document.map { try function($0, parameters) } ?? true
        }
    }
}
