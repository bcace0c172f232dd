import SettleCore

/// The parts of a selector that a search index evaluates.
extension Selector {
    /// The texts of its `$text`s: a document matches only if all of them find it.
    package var searches: [String] { root.map(Self.searches) ?? [] }

    /// The same without its `$text`s.
    package var withoutSearches: Selector {
        guard !searches.isEmpty else { return self }
        let rest = root.flatMap(Self.rest)
        return Selector(json: rest.map(Self.json) ?? .object(JSONObject()), root: rest)
    }

    private static func searches(_ node: SelectorNode) -> [String] {
        switch node {
        case .all(let nodes): nodes.flatMap(searches)
        case .text(let search): [search.string ?? search.description]
        default: []
        }
    }

    /// What remains of a node; `nil` if it was only `$text`.
    private static func rest(_ node: SelectorNode) -> SelectorNode? {
        switch node {
        case .all(let nodes):
            let left = nodes.compactMap(rest)
            return left.isEmpty && !nodes.isEmpty ? nil : .all(left)
        case .text: return nil
        default: return node
        }
    }
}
