import SettleCore

/// One evaluation of a value by a compiled schema.
struct SchemaEvaluation {
    /// A step from a value into one of its parts.
    enum Step {
        case name(String)
        case index(Int)
    }

    /// The parts of the current value that subschemas have evaluated, by position.
    struct Evaluated {
        var members: Set<Int> = []
        var elements: Set<Int> = []
    }

    let nodes: [SchemaNode]
    let tracksEvaluated: Bool
    private let stepLimit: Int
    private(set) var evaluated = Evaluated()
    private var problems: [SchemaProblem] = []
    private var path: [Step] = []
    private var depth = 0
    private var steps = 0
    private var limit: String?

    init(nodes: [SchemaNode], tracksEvaluated: Bool, stepLimit: Int = SchemaLimits.steps) {
        self.nodes = nodes
        self.stepLimit = stepLimit
        self.tracksEvaluated = tracksEvaluated
    }

    /// The problems of a value.
    mutating func run(_ value: JSONValue) -> [SchemaProblem] {
        apply(0, to: value)
        if let limit { return [SchemaProblem(path: "", keyword: "limit", message: limit)] }
        return problems
    }

    /// Applies a subschema to the current value.
    mutating func apply(_ index: Int, to value: JSONValue) {
        guard enter() else { return }
        defer { depth -= 1 }
        let outer = evaluated
        evaluated = Evaluated()
        let count = problems.count
        var node = nodes[index]
        while !node.isNever, node.rules.isEmpty, let reference = node.reference { node = nodes[reference] }
        if node.isNever { report("false", "nothing is allowed here") }
        if let reference = node.reference { apply(reference, to: value) }
        for rule in node.rules { rule.check(value, &self) }
        let inner = problems.count == count ? evaluated : Evaluated()
        evaluated = outer
        guard tracksEvaluated else { return }
        evaluated.members.formUnion(inner.members)
        evaluated.elements.formUnion(inner.elements)
    }

    /// Applies a subschema to a part of the current value, which then counts as evaluated.
    mutating func apply(_ index: Int, to part: JSONValue, under step: Step) {
        let outer = evaluated
        evaluated = Evaluated()
        path.append(step)
        apply(index, to: part)
        path.removeLast()
        evaluated = outer
    }

    /// Whether a subschema allows the current value; problems are discarded.
    mutating func matches(_ index: Int, _ value: JSONValue) -> Bool {
        let count = problems.count
        apply(index, to: value)
        defer { problems.removeLast(problems.count - count) }
        return problems.count == count
    }

    /// Whether a subschema allows a part of the current value. The part is not marked as evaluated.
    mutating func matches(_ index: Int, _ part: JSONValue, under step: Step) -> Bool {
        let count = problems.count
        apply(index, to: part, under: step)
        defer { problems.removeLast(problems.count - count) }
        return problems.count == count
    }

    /// Runs a check, and discards the parts that it has evaluated.
    mutating func withoutEvaluated<Result>(_ body: (inout SchemaEvaluation) -> Result) -> Result {
        let outer = evaluated
        defer { evaluated = outer }
        return body(&self)
    }

    /// Marks a member as evaluated.
    mutating func markMember(_ position: Int) { if tracksEvaluated { evaluated.members.insert(position) } }

    /// Marks an element as evaluated.
    mutating func markElement(_ position: Int) { if tracksEvaluated { evaluated.elements.insert(position) } }

    /// Adds a problem with the current value.
    mutating func report(_ keyword: String, _ message: String) {
        var pointer = ""
        for step in path {
            switch step {
            case .name(let name): pointer += "/" + SchemaPointer.escape(name)
            case .index(let index): pointer += "/\(index)"
            }
        }
        problems.append(SchemaProblem(path: pointer, keyword: keyword, message: message))
    }

    private mutating func enter() -> Bool {
        guard limit == nil else { return false }
        steps += 1
        if depth >= SchemaLimits.depth {
            limit = "the value and the schema are nested too deeply"
        } else if steps > stepLimit {
            limit = "the check takes too many steps"
        } else {
            depth += 1
        }
        return limit == nil
    }
}

/// Limits on checking one value against a schema.
package enum SchemaLimits {
    /// The maximum nesting of subschemas; a bare `$ref` does not count.
    ///
    /// A level takes up to 2 KB of stack in a debug build.
    package static let depth = 512
    /// The number of subschemas that may be applied in total.
    package static let steps = 10_000_000
}

/// One way in which a value violates a schema.
public struct SchemaProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position in the value, as a JSON pointer (RFC 6901); empty for the whole value.
    public let path: String
    /// The violated keyword; `false` for a schema that allows nothing, `limit` if the check was aborted.
    public let keyword: String
    /// The problem, in human-readable form.
    public let message: String

    /// The position, the keyword and the message.
    public var description: String { "\(path.isEmpty ? "(root)" : path): \(keyword): \(message)" }
}

// MARK: - SchemaRule

/// One keyword of a schema with its value, ready to be checked.
protocol SchemaRule: Sendable {
    /// Reports the violations of this rule by a value to the evaluation.
    func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation)
}
