internal import SettleCore

/// Normalizes a selector like CouchDB, which determines the meaning of negations.
///
///     paths go down to the leaves           {"a": {"b": {"$gt": 1}}}             →  a.b: $gt 1
///     negations go down to the operators    {"$not": {"a": {"$gt": 1}}}          →  a: $lte 1
///     by De Morgan's laws                   {"$nor": [{"a": 1}, {"b": 2}]}       →  $and [a: $ne 1, b: $ne 2]
///
/// That is why a missing member matches neither a condition nor its negation. Inside `$elemMatch`, `$allMatch` and
/// `$keyMapMatch` paths start again and negations stay in place. There a missing member does match `$not`, and
/// `$nor` never matches.
enum SelectorNormalizer {
    /// Normalizes a parsed selector.
    ///
    /// - Throws: ``SelectorError`` for misplaced paths and conditions.
    static func normalize(_ node: SelectorNode) throws(SelectorError) -> SelectorNode {
        let normal = try withoutNegations(withPaths(node, SelectorPath(""), isInside: false))
        try checkText(normal, isWanted: true)
        if case .at(let path, _) = normal, path.spelling.isEmpty {
            throw SelectorError(.invalidSelector, "One or more conditions is missing a field name.")
        }
        return normal
    }

    // MARK: - Paths

    private static func withPaths(
        _ node: SelectorNode, _ path: SelectorPath, isInside: Bool
    ) throws(SelectorError) -> SelectorNode {
        switch node {
        case .all(let nodes): return .all(try withPaths(nodes, path, isInside))
        case .any(let nodes): return .any(try withPaths(nodes, path, isInside))
        case .none(let nodes): return .none(try withPaths(nodes, path, isInside))
        case .not(let node): return .not(try withPaths(node, path, isInside: isInside))
        case .member(let name, let node): return try withPaths(node, path.member(name), isInside: isInside)
        case .each(let row, let node):
            let inner = try withPaths(node, SelectorPath(""), isInside: true)
            return .at(try checked(path, isInside), .each(row, inner))
        case .test, .at: return .at(try checked(path, isInside), node)
        case .misplaced(let argument): throw misplaced(argument)
        case .text(let search):
            guard path.spelling.isEmpty else { throw misplaced(["$text": search]) }
            guard !isInside else { throw textInside }
            return node
        }
    }

    private static func misplaced(_ argument: JSONValue) -> SelectorError {
        SelectorError(
            .badField, "Invalid field normalization on selector: " + ErlangText.text(of: ["$default": argument]))
    }

    private static let textInside = SelectorError(
        .notSupported,
        "Unsupported operator: $text inside of another one; it stands beside other conditions, or in $and.")

    /// Checks that each `$text` is required for a match.
    private static func checkText(_ node: SelectorNode, isWanted: Bool) throws(SelectorError) {
        switch node {
        case .all(let nodes): for node in nodes { try checkText(node, isWanted: isWanted) }
        case .any(let nodes), .none(let nodes): for node in nodes { try checkText(node, isWanted: false) }
        case .not(let node): try checkText(node, isWanted: false)
        case .text: if !isWanted { throw textInside }
        case .member, .at, .each, .test, .misplaced: break
        }
    }

    private static func withPaths(
        _ nodes: [SelectorNode], _ path: SelectorPath, _ isInside: Bool
    ) throws(SelectorError) -> [SelectorNode] {
        var result: [SelectorNode] = []
        for node in nodes { result.append(try withPaths(node, path, isInside: isInside)) }
        return result
    }

    /// In conditions on elements, CouchDB accepts a path with an empty part, which matches nothing.
    private static func checked(_ path: SelectorPath, _ isInside: Bool) throws(SelectorError) -> SelectorPath {
        guard path.names != nil || isInside else {
            throw SelectorError(.invalidFieldName, "Invalid field name: \(path.spelling)")
        }
        return path
    }

    // MARK: - Negations

    private static func withoutNegations(_ node: SelectorNode) throws(SelectorError) -> SelectorNode {
        switch node {
        case .not(let node): try negation(of: node)
        case .none(let nodes): .all(try nodes.map(negation))
        case .all(let nodes): .all(try nodes.map(withoutNegations))
        case .any(let nodes): .any(try nodes.map(withoutNegations))
        default: node
        }
    }

    private static func negation(of node: SelectorNode) throws(SelectorError) -> SelectorNode {
        switch node {
        case .not(let node): try withoutNegations(node)
        case .none(let nodes): .any(try nodes.map(withoutNegations))
        case .all(let nodes): .any(try nodes.map(negation))
        case .any(let nodes): .all(try nodes.map(negation))
        case .at(let path, let node): .at(path, try negation(of: node))
        case .test(let test): try test.negated() ?? .not(node)
        case .each, .member, .text, .misplaced: .not(node)
        }
    }
}

/// A selector as a tree, between JSON and evaluation.
///
///     JSON ── SelectorParser ──→ operators, members, implicit ones made explicit
///          ── SelectorNormalizer ──→ paths at the leaves, negations pushed down to them
///          ── SelectorMatch ──→ true or false for one document
indirect enum SelectorNode: Sendable {
    /// `$and`: all of them match.
    case all([SelectorNode])
    /// `$or`: one of them matches.
    case any([SelectorNode])
    /// `$nor`: none of them matches.
    case none([SelectorNode])
    /// `$not`: it does not match.
    case not(SelectorNode)
    /// A member of the value has to match; only before paths are pushed down.
    case member(String, SelectorNode)
    /// The value at a path has to match; only after paths are pushed down.
    case at(SelectorPath, SelectorNode)
    /// Parts of the value have to match, as the operator requires.
    case each(SelectorOperator, SelectorNode)
    /// A test of the value itself.
    case test(SelectorTest)
    /// `$text`: the search that a search index has to match in the document's texts.
    case text(JSONValue)
    /// `$default` of something other than `$text`, which is allowed nowhere.
    case misplaced(JSONValue)
}
