internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleQuery
internal import SettleScripting

/// The changes that a feed includes.
///
/// A filter function runs before, for many changes at once; see ``ScriptFilter``.
enum ChangesFilter: Sendable {
    /// All changes.
    case all
    /// Changes of the given documents: `_doc_ids`.
    case ids(Set<DocumentID>)
    /// Changes of design documents: `_design`.
    case design
    /// Changes with a matching revision, and the fields to show: `_selector`.
    case selector(MangoSelector, Projection?)
    /// Changes with a revision that a filter function passes, or a view's map function emits a row for.
    case script(ScriptFilter)

    /// Creates the filter of a request.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - context: The request.
    ///   - body: Its body's members.
    ///   - bytes: Its body.
    /// - Throws: ``HTTPError`` with status 400 if a parameter is missing, 404 if the function is missing, 501 if it can't be
    ///   run.
    init(_ name: String?, _ context: RequestContext, body: JSONObject, bytes: [UInt8] = []) throws {
        switch name {
        case nil, "": self = .all
        case "_design": self = .design
        case "_doc_ids": self = .ids(try Self.ids(context, body: body))
        case "_selector": self = try Self.selector(context, body: body)
        case "_view":
            guard let view = context.query["view"], !view.isEmpty else {
                throw HTTPError.badRequest("`view` filter parameter is not provided.")
            }
            let parts = Self.parts(view)
            guard parts.count == 2 else {
                throw HTTPError.badRequest("`view` must be of the form `designname/viewname`")
            }
            let design = try DesignDocuments.document(parts[0], of: context.database())
            try design.require("views", parts[1])
            self = .script(try ScriptFilter(view: parts[1], of: design, context))
        case let name?:
            if name.hasPrefix("_") { throw HTTPError.badRequest("unknown builtin filter name") }
            let parts = Self.parts(name)
            if parts.isEmpty {
                self = .all
                return
            }
            guard parts.count == 2 else {
                throw HTTPError.badRequest("`filter` must be of the form `designname/filtername`")
            }
            let design = try DesignDocuments.document(parts[0], of: context.database())
            try design.require("filters", parts[1])
            self = .script(try ScriptFilter(function: parts[1], of: design, context, body: bytes))
        }
    }

    /// Whether the filter reads documents.
    var needsContent: Bool {
        switch self {
        case .selector, .script: true
        case .all, .ids, .design: false
        }
    }

    /// The filter function to call, if any.
    var script: ScriptFilter? { if case .script(let filter) = self { filter } else { nil } }

    /// Selects the leaves of a changed document to include.
    ///
    /// - Parameters:
    ///   - record: The document.
    ///   - hasAllLeaves: Whether to test all leaves; otherwise only the winner is tested.
    ///   - document: Prints a leaf; `nil` if its content is missing, which excludes it.
    /// - Returns: The leaves, winner first; empty if the change is excluded.
    /// - Throws: Errors of `document`.
    func leaves(
        of record: DocumentRecord, hasAllLeaves: Bool, document: (RevisionNode) throws -> JSONValue?
    ) throws -> [RevisionNode] {
        guard let winner = record.tree.winner else { return [] }
        let leaves = hasAllLeaves ? record.tree.leaves : [winner]
        switch self {
        case .all: return leaves
        case .ids(let ids): return ids.contains(record.id) ? leaves : []
        case .design: return record.id.isDesign ? leaves : []
        case .selector(let selector, _): return try leaves.filter { try document($0).map(selector.matches) ?? false }
        // The function has run already.
        case .script: return leaves
        }
    }

    /// The documents that the filter can pass, if the filter names only a few; `nil` if all changes have to be
    /// read.
    func namedDocuments(of database: Database) throws -> [DocumentID]? {
        switch self {
        case .ids(let ids): return ids.count <= Self.maximumNamedDocuments ? Array(ids) : nil
        case .design:
            let range = ListingNamespace.design.range
            let ids = try database.records(in: range, limit: Self.maximumNamedDocuments + 1, withContent: false).map(
                \.id)
            return ids.count <= Self.maximumNamedDocuments ? ids : nil
        case .all, .selector, .script: return nil
        }
    }

    /// The maximum number of documents to look up for each page; with more, reading all changes may be faster.
    private static let maximumNamedDocuments = 1000

    /// The fields of a document to show; `nil` for all.
    var projection: Projection? { if case .selector(_, let projection) = self { projection } else { nil } }
}

extension ChangesFilter {
    private static func ids(_ context: RequestContext, body: JSONObject) throws -> Set<DocumentID> {
        let given = context.request.method == "POST" ? body["doc_ids"] : try context.query.json("doc_ids")
        guard let list = given?.array else {
            throw HTTPError.badRequest("`doc_ids` filter parameter is not a list of doc ids.")
        }
        return Set(
            try list.map { id in
                guard let id = id.string else {
                    throw HTTPError.badRequest("`doc_ids` filter parameter is not a list of doc ids.")
                }
                return DocumentID(unchecked: id)
            })
    }

    private static func selector(_ context: RequestContext, body: JSONObject) throws -> ChangesFilter {
        guard context.request.method == "POST" else {
            throw HTTPError.badRequest("Selector must be specified in POST payload")
        }
        guard let json = body["selector"], json.object != nil else {
            throw HTTPError.badRequest("Selector error: expected a JSON object")
        }
        do {
            let selector = try MangoSelector(filter: json)
            guard let fields = body["fields"] else { return .selector(selector, nil) }
            guard let list = fields.array else {
                throw HTTPError.badRequest("Selector error: fields must be JSON array")
            }
            guard list.count <= RequestLimits.fields else {
                throw HTTPError.tooMany("`fields` may have \(RequestLimits.fields) names")
            }
            return .selector(selector, try Projection(list))
        } catch let error as SelectorError {
            throw HTTPError.badRequest(error.reason)
        }
    }

    /// The two parts of a filter's name; a slash in them is written as `%2F`.
    private static func parts(_ name: String) -> [String] {
        name.split(separator: "/").map { PercentCoding.decode($0, plusIsBlank: true) }
    }
}

// MARK: - ScriptFilter

/// A function of a design document that decides which changes a feed shows.
struct ScriptFilter: Sendable {
    private let pool: ScriptPool
    private let source: ScriptSource
    private let name: String
    /// The request as the function sees it; `nil` for a view's map function.
    private let request: [UInt8]?

    /// The shown leaves of each document.
    typealias Chosen = [[RevisionNode]]

    /// A function among the `filters`.
    init(function name: String, of design: DesignDocument, _ context: RequestContext, body: [UInt8]) throws {
        try self.init(name, design, context, try ScriptRequestObject.json(context, id: nil, body: body).utf8)
    }

    /// A view: a leaf passes if the map function emits a row for it.
    init(view name: String, of design: DesignDocument, _ context: RequestContext) throws {
        try self.init(name, design, context, nil)
    }

    private init(_ name: String, _ design: DesignDocument, _ context: RequestContext, _ request: [UInt8]?) throws {
        guard let scripts = context.scripts else {
            throw HTTPError.notImplemented("this server runs no scripts, and so has no filter functions")
        }
        guard design.language == "javascript" else { throw HTTPError(500, "unknown_query_language", design.language) }
        pool = scripts.pool
        source = design.source
        self.name = name
        self.request = request
    }

    /// Runs the function for the leaves of some documents.
    ///
    /// - Parameters:
    ///   - candidates: The leaves of each document, as the function sees them.
    ///   - taker: Receives the leaves that passed, on a thread that it must leave soon.
    func ask(
        _ candidates: [[(leaf: RevisionNode, json: [UInt8])]],
        _ taker: @escaping @Sendable (Result<Chosen, ScriptError>) -> Void
    ) {
        let texts = candidates.flatMap { $0.map(\.json) }
        let leaves = candidates.map { $0.map(\.leaf) }
        guard !texts.isEmpty else { return taker(.success(leaves)) }
        let call =
            request.map { pool.submit(.filter(texts, by: name, request: $0, of: source)) }
            ?? pool.submit(.filter(texts, byView: name, of: source))
        call.answer.whenFulfilled { answer in
            taker(
                answer.map { answers in
                    var rest = answers[...]
                    return leaves.map { $0.filter { _ in rest.popFirst() == [UInt8(ascii: "1")] } }
                })
        }
    }
}
