public import SettleCore
public import SettleDatabase
internal import SettlePlatform
public import SettleQuery

/// Selects the documents of a source that a replication copies. A filter runs at the source (SEMANTICS 128).
public enum ReplicationFilter: Sendable {
    /// All documents, including design documents.
    case all
    /// Documents with these ids.
    case documents([DocumentID])
    /// Documents whose winner matches a selector without `$text`, which needs the index of a query. A replication with
    /// `$text` fails with ``PeerError/Code/badRequest``.
    case selector(MangoSelector)
    /// Documents that pass a filter function of a design document. The function is named `designdoc/filter`, and
    /// gets query parameters of any JSON type: `req.query` contains strings unchanged, and other values as JSON
    /// text. A source of this process looks up the name among its registered filters, which get the values
    /// unchanged.
    case named(String, parameters: [String: JSONValue] = [:])
    /// Documents in some of Sync Gateway's channels (SEMANTICS 133).
    case channels([String])
}

extension ReplicationFilter {
    /// Checks that a filter can be applied to one document at a time.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` for a selector with `$text`.
    func check() throws {
        guard case .selector(let selector) = self, let search = selector.searches.first else { return }
        throw PeerError(
            .badRequest,
            """
            the selector of the filter asks for the words "\(search)" by $text, which only a query with an index of texts \
            answers; filter by members of the documents, or by a registered function
            """, status: 400)
    }
}

// MARK: - LocalFilter

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

    /// Whether a changed document is replicated. The winner decides, even if it is a tombstone (SEMANTICS 129,
    /// 131). A damaged document passes, so that it is listed as failed.
    func passes(_ change: Change) throws -> Bool {
        switch self {
        case .all: true
        case .documents(let ids): ids.contains(change.id)
        case .selector(let selector): change.document.map(selector.matches) ?? true
        case .function(let function, let parameters): try change.document.map { try function($0, parameters) } ?? true
        }
    }
}

// MARK: - Replication Filters

/// Decides whether a document is replicated. The parameters are the replication's, of any JSON type (SEMANTICS
/// 129).
///
/// It gets the winner, even if that is a tombstone (`Document.isDeleted`). A plain deletion leaves a tombstone
/// without members, so a filter that tests members rejects it, and the deletion does not replicate (SEMANTICS 131).
/// To avoid that, delete with `keeping:` the members that the filter tests, or pass all tombstones.
public typealias ReplicationFilterFunction = @Sendable (Document, [String: JSONValue]) throws -> Bool

extension Database {
    /// Registers a filter function under a name, replacing a previous one, for replications from this database
    /// (SEMANTICS 128).
    ///
    ///     database.addReplicationFilter("mine") { document, parameters in
    ///         document["owner"] == parameters["owner"]
    ///     }
    ///
    /// The function is not stored in the file: register it each time the database is opened, before replications start.
    /// It runs while changes are read, so it should be fast. If it throws, the replication fails.
    ///
    /// - Parameters:
    ///   - name: The name that replications use.
    ///   - version: The version of the function. Increase it when the function passes other documents than before:
    ///     the next replication then compares all documents, and not only new changes.
    ///   - filter: The function.
    public func addReplicationFilter(_ name: String, version: Int = 1, _ filter: @escaping ReplicationFilterFunction) {
        filters.functions.withLock { $0[name] = (filter, version) }
    }

    /// Removes a filter function; does nothing for an unknown name.
    public func removeReplicationFilter(_ name: String) { filters.functions.withLock { $0[name] = nil } }

    /// The filter function of a name.
    func replicationFilter(_ name: String) -> (function: ReplicationFilterFunction, version: Int)? {
        filters.functions.withLock { $0[name] }
    }

    private var filters: ReplicationFilterList {
        companion(ReplicationFilterList.self) { ReplicationFilterList() }
    }
}

// MARK: - ReplicationFilterList

/// The filter functions of a database, by name.
final class ReplicationFilterList: Sendable {
    let functions = Guarded<[String: (function: ReplicationFilterFunction, version: Int)]>([:])
}
