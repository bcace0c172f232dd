import SettleCore

/// Support for planning queries.
extension MangoSelector {
    /// The conditions that all have to hold and that an index can narrow, in their order: those of the selector itself
    /// and of its `$and`s.
    package var conditions: [SelectorCondition] { root.map(Self.conditions) ?? [] }

    /// Whether the selector consists only of its ``conditions``.
    package var isConjunction: Bool { root.map(Self.isConjunction) ?? true }

    /// The paths it tests, each once, in byte order.
    package var fields: [String] {
        let sorted = (root.map(Self.fields) ?? []).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return sorted.enumerated().filter { index, path in
            index == 0 || !sorted[index - 1].utf8.elementsEqual(path.utf8)
        }.map(\.element)
    }

    /// Whether it has regular expressions.
    package var hasPatterns: Bool { root.map(Self.hasPatterns) ?? false }

    /// Whether it matches only documents that have all of these members.
    ///
    /// An empty `$or` requires nothing. CouchDB treats it as requiring every member, and so omits documents if it uses
    /// an index.
    package func requires(_ paths: some Sequence<String>) -> Bool {
        var missing = Set(paths.map { Array($0.utf8) })
        if let root, !missing.isEmpty { missing.subtract(Self.required(by: root)) }
        return missing.isEmpty
    }

    /// Whether a member has the same value in all matching documents.
    package func isConstant(_ path: String) -> Bool {
        conditions.contains { $0.kind == .equal && $0.path.utf8.elementsEqual(path.utf8) }
    }

    private static func conditions(_ node: SelectorNode) -> [SelectorCondition] {
        switch node {
        case .all(let nodes): nodes.flatMap(conditions)
        case .at(let path, .test(let test)): SelectorCondition(path, test).map { [$0] } ?? []
        default: []
        }
    }

    private static func isConjunction(_ node: SelectorNode) -> Bool {
        switch node {
        case .all(let nodes): nodes.allSatisfy(isConjunction)
        case .at(let path, .test(let test)): SelectorCondition(path, test) != nil
        default: false
        }
    }

    private static func hasPatterns(_ node: SelectorNode) -> Bool {
        switch node {
        case .all(let nodes), .any(let nodes), .none(let nodes): nodes.contains(where: hasPatterns)
        case .not(let node), .at(_, let node), .each(_, let node), .member(_, let node): hasPatterns(node)
        case .test(.pattern): true
        case .test, .text, .misplaced: false
        }
    }

    private static func fields(_ node: SelectorNode) -> [String] {
        switch node {
        case .all(let nodes), .any(let nodes), .none(let nodes): nodes.flatMap(fields)
        case .not(let node): fields(node)
        case .at(let path, _): [path.spelling]
        // A condition without a path applies to the whole document.
        case .member, .each, .test: [""]
        case .text, .misplaced: []
        }
    }

    private static func required(by node: SelectorNode) -> Set<[UInt8]> {
        switch node {
        case .all(let nodes): return nodes.reduce(into: []) { $0.formUnion(required(by: $1)) }
        case .any(let nodes):
            guard let first = nodes.first else { return [] }
            return nodes.dropFirst().reduce(required(by: first)) { $0.intersection(required(by: $1)) }
        case .at(_, .test(.exists(false))): return []
        case .at(let path, _): return [Array(path.spelling.utf8)]
        default: return []
        }
    }
}
