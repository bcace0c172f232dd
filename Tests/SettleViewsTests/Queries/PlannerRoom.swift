import PostgresTesting
import Settle
import SettleViews
import Testing

/// A database with indexes, for inspecting query plans.
struct PlannerRoom {
    let database: Database

    init() throws { database = try Database.plain() }

    /// Creates an index named by its members, in a design document of its own.
    @discardableResult
    func index(
        _ fields: String..., name: String? = nil, in design: String? = nil, filter: JSONValue? = nil
    ) throws -> QueryIndex {
        let name = name ?? fields.joined(separator: "-")
        let definition = try IndexDefinition(
            fields: fields.map { .ascending($0) }, filter: filter.map { try MangoSelector($0) }, name: name,
            designDocument: design ?? name)
        var document = try database.document(definition.designDocument) ?? Document(id: definition.designDocument)
        let old = document.revision == nil ? nil : document.json.object
        document.json = .object(try definition.added(to: old))
        try database.save(document, onConflict: .fail)
        return try #require(
            try database.indexes().first { $0.designDocument == definition.designDocument && $0.name == name })
    }

    /// The name of the index that the planner chooses for a selector.
    func used(
        _ selector: JSONValue, sort: [SortField] = [], _ change: (inout FindOptions) -> Void = { _ in }
    ) throws -> String { try plan(selector, sort: sort, change).index.name }

    func plan(
        _ selector: JSONValue, sort: [SortField] = [], _ change: (inout FindOptions) -> Void = { _ in }
    ) throws -> FindPlan { try planner(selector, sort: sort, change).plan() }

    func planner(
        _ selector: JSONValue, sort: [SortField] = [], _ change: (inout FindOptions) -> Void = { _ in }
    ) throws -> FindPlanner {
        var options = FindOptions(try MangoSelector(selector))
        options.sort = sort
        change(&options)
        return FindPlanner(options, indexes: try database.indexes())
    }
}
