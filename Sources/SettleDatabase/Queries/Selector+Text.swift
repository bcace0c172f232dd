import RevisionTree

/// What a query asks of a search index, apart from what it asks of documents.
extension Selector {
    /// What its `$text`s look for: all of them have to find a document for it to match.
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

    /// What is left of a node; `nil` for what was nothing but words.
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
