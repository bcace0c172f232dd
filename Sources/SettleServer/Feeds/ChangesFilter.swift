internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Which changes a feed shows.
///
/// What a function thinks of the changes is asked before, for many at a time; see ``ScriptFilter``.
enum ChangesFilter: Sendable {
    /// All of them.
    case all
    /// Those of some documents: `_doc_ids`.
    case ids(Set<DocumentID>)
    /// Those of design documents: `_design`.
    case design
    /// Those of revisions that match: `_selector`, and which of their members are shown.
    case selector(Selector, Projection?)
    /// Those of revisions that a function of a design document lets through, or a view emits something for.
    case script(ScriptFilter)

    /// Makes the filter a request names.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - context: The request.
    ///   - body: Its body's members.
    ///   - bytes: Its body.
    /// - Throws: ``HTTPError`` with status 400 when what the filter needs is missing, 404 when it is not there, 501 when it
    ///   needs a function to be run.
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

    /// Whether it looks into documents.
    var needsContent: Bool {
        switch self {
        case .selector, .script: true
        case .all, .ids, .design: false
        }
    }

    /// The function that is to be asked, if one is.
    var script: ScriptFilter? { if case .script(let filter) = self { filter } else { nil } }

    /// Asks which leaves of a changed document are shown.
    ///
    /// - Parameters:
    ///   - record: The document.
    ///   - hasAllLeaves: Whether all leaves are asked about, each for itself, or the winner only.
    ///   - document: Prints a leaf; `nil` for one whose content is not there, which is not shown then.
    /// - Returns: The leaves, winner first; none when the change is not shown.
    /// - Throws: What printing throws.
    func leaves(
        of record: DocumentRecord, hasAllLeaves: Bool, document: (RevisionNode) throws -> JSON?
    ) throws -> [RevisionNode] {
        guard let winner = record.tree.winner else { return [] }
        let leaves = hasAllLeaves ? record.tree.leaves : [winner]
        switch self {
        case .all: return leaves
        case .ids(let ids): return ids.contains(record.id) ? leaves : []
        case .design: return record.id.isDesign ? leaves : []
        case .selector(let selector, _): return try leaves.filter { try document($0).map(selector.matches) ?? false }
        // It was asked already.
        case .script: return leaves
        }
    }

    /// What is shown of a document that goes with a change; `nil` when that is all of it.
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
            let selector = try Selector(filter: json)
            guard let fields = body["fields"] else { return .selector(selector, nil) }
            guard let list = fields.array else {
                throw HTTPError.badRequest("Selector error: fields must be JSON array")
            }
            return .selector(selector, try Projection(list))
        } catch let error as SelectorError {
            throw HTTPError.badRequest(error.reason)
        }
    }

    /// The two names in a filter's name; a slash in them is written as `%2F`.
    private static func parts(_ name: String) -> [String] {
        name.split(separator: "/").map { PercentCoding.decode($0, plusIsBlank: true) }
    }
}
