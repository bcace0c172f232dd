package import SettleCore
package import SettleDatabase

/// Emits the rows of design documents' views with the language `query`, which are indexes that are queried as views.
///
///     {"map": {"fields": {"city": "asc", "age": "asc"}, "partial_filter_selector": {}}}     →     ["Prague", 36]
///
/// A document has a row for each view of which it has all fields. The direction of a field has no effect.
package struct QueryViewMapper: ViewMapper {
    private let views: [IndexMapper]

    /// Makes a mapper.
    ///
    /// - Parameter maps: The views' members `map`, in the order in which the index numbers them; one that names no
    ///   fields has no rows.
    /// - Throws: ``SelectorError`` for an invalid filter.
    package init(maps: [JSONValue]) throws {
        views = try maps.enumerated().compactMap { view, map in
            guard let fields = map["fields"]?.object else { return nil }
            let filters = ["partial_filter_selector", "selector"].compactMap { map[$0] }
            // The old name is used only if the new one is empty.
            let filter = try filters.first { $0.object?.isEmpty != true }.map { try MangoSelector(filter: $0) }
            return IndexMapper(fields.names, filter: filter, view: view)
        }
    }

    package func start(_ documents: [DocumentRecord]) -> any ViewMapping {
        PageMapping(documents) { [views] record in views.flatMap { $0.emissions(of: record) } }
    }
}
