internal import RevisionTree
internal import SettleDatabase

/// Which changes a feed shows.
///
/// Filters that look at documents, by a selector or a function, have their place here: a case each, and a line in
/// ``leaves(of:in:style:)``.
enum ChangesFilter: Sendable {
    /// All of them.
    case all
    /// Those of some documents: `_doc_ids`.
    case ids(Set<DocumentID>)
    /// Those of design documents: `_design`.
    case design

    /// Makes the filter a request names.
    ///
    /// - Throws: ``HTTPError`` with status 400 when what the filter needs is missing, 501 for one that is not there yet.
    init(_ name: String?, _ context: RequestContext, body: JSONObject) throws {
        switch name {
        case nil, "": self = .all
        case "_design": self = .design
        case "_doc_ids":
            let isGet = context.request.method == "GET"
            let given = isGet ? try context.query.json("doc_ids") : body["doc_ids"]
            guard let list = given?.array else {
                throw HTTPError.badRequest("`doc_ids` filter parameter is not a list of doc ids.")
            }
            self = .ids(Set(list.compactMap(\.string).map { DocumentID(unchecked: $0) }))
        case "_selector": throw HTTPError.notImplemented("the filter _selector is not implemented yet")
        case "_view": throw HTTPError.notImplemented("filters by views are not implemented yet")
        case let name?:
            if name.hasPrefix("_") { throw HTTPError.badRequest("unknown builtin filter name") }
            guard name.contains("/") else {
                throw HTTPError.badRequest("`filter` must be of the form `designname/filtername`")
            }
            throw HTTPError.notImplemented("filter functions are not implemented yet")
        }
    }

    /// The leaves of a changed document that are shown, winner first; none when the change is not.
    func leaves(of record: DocumentRecord, in database: Database, hasAllLeaves: Bool) throws -> [RevisionNode] {
        let isShown =
            switch self {
            case .all: true
            case .ids(let ids): ids.contains(record.id)
            case .design: record.id.isDesign
            }
        guard isShown, let winner = record.tree.winner else { return [] }
        return hasAllLeaves ? record.tree.leaves : [winner]
    }
}
