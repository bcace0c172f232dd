package import SettleCore

/// A condition on one member that narrows an index to a range.
package struct SelectorCondition: Sendable {
    /// The member's path as written.
    package let path: String
    /// The values that it allows.
    package let range: SelectorRange
}

/// The values that an operator allows, as a range of the order of values.
package enum SelectorRange: Sendable {
    /// The values before one, optionally including it.
    case below(JSONValue, isIncluded: Bool)
    /// The values after one, optionally including it.
    case above(JSONValue, isIncluded: Bool)
    /// One value.
    case exactly(JSONValue)
    /// The strings with a prefix.
    case prefix(String)
    /// Every value.
    case existing
    /// No value: the member is missing.
    case missing
}

// MARK: - SelectorPart

/// A part of a selector; all parts must hold for a match.
package struct SelectorPart: Sendable, CustomStringConvertible {
    fileprivate let node: SelectorNode

    /// The part as a condition that narrows an index; `nil` for any other part.
    package var condition: SelectorCondition? {
        guard case .at(let path, .test(let test)) = node, let range = test.range else { return nil }
        return SelectorCondition(path: path.spelling, range: range)
    }

    /// Whether it is a `$text`.
    package var isSearch: Bool {
        if case .text = node { true } else { false }
    }

    /// The part in words, `age >= 18`, with CouchDB's names for operators that have no sign. A part with several
    /// members is shown in normal form.
    package var description: String {
        guard case .at(let path, let inner) = node, let member = MangoSelector.json(inner).object?.first else {
            return MangoSelector.json(node).description
        }
        return "\(path.spelling) \(SelectorOperator.named(member.name)?.sign ?? member.name) \(member.value)"
    }
}

// MARK: - Planning

/// Support for planning queries.
extension MangoSelector {
    /// The parts that all must hold, in order: those of the selector itself and of its `$and`s.
    package var parts: [SelectorPart] { root.map(Self.parts) ?? [] }

    /// The parts that narrow an index.
    package var conditions: [SelectorCondition] { parts.compactMap(\.condition) }

    /// Whether the selector consists only of its ``conditions``.
    package var isConjunction: Bool { parts.allSatisfy { $0.condition != nil } }

    /// The paths it tests, each once, in byte order.
    package var fields: [String] {
        let sorted = (root.map(Self.fields) ?? []).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return sorted.enumerated().filter { index, path in
            index == 0 || !sorted[index - 1].utf8.elementsEqual(path.utf8)
        }.map(\.element)
    }

    /// Whether one of its operators may take many steps on one value, as a regular expression does.
    package var isCostly: Bool { root.map(Self.isCostly) ?? false }

    /// The paths, as bytes, of members that all matching documents have.
    ///
    /// An empty `$or` requires nothing. CouchDB treats it as requiring every member, and so omits documents if it uses
    /// an index.
    package var requiredFields: Set<[UInt8]> { root.map(Self.required) ?? [] }

    /// Whether a member has the same value in all matching documents.
    package func isConstant(_ path: String) -> Bool {
        conditions.contains { condition in
            guard case .exactly = condition.range else { return false }
            return condition.path.utf8.elementsEqual(path.utf8)
        }
    }

    private static func parts(_ node: SelectorNode) -> [SelectorPart] {
        if case .all(let nodes) = node { nodes.flatMap(parts) } else { [SelectorPart(node: node)] }
    }

    private static func isCostly(_ node: SelectorNode) -> Bool {
        switch node {
        case .all(let nodes), .any(let nodes), .none(let nodes): nodes.contains(where: isCostly)
        case .not(let node), .at(_, let node), .each(_, let node), .member(_, let node): isCostly(node)
        case .test(let test): test.isCostly
        case .text, .misplaced: false
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
        case .at(_, .test(let test)) where test.acceptsMissing: return []
        case .at(let path, _): return [Array(path.spelling.utf8)]
        default: return []
        }
    }
}
