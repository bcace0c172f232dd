public import SettleCore

/// A JSON Schema, compiled once, for checking values.
///
///     let schema = try JSONSchema(["type": "object", "required": ["name"]])
///     schema.problems(in: ["name": "Milk"])      // []
///     try schema.validate([:])                   // throws: (root): required: there is no member "name"
///
/// It supports draft 2020-12 within one document: all applicators and assertions, including `unevaluatedProperties` and
/// `unevaluatedItems`, and `$ref` to `#`, `#/pointer` and `#anchor`. A ``SchemaError`` rejects what would otherwise be
/// silently ignored or misread: `$ref` to other documents, `$dynamicRef`, `$vocabulary`, `$id` below the root, another
/// `$schema`, and asserting keywords of older drafts (`dependencies`, `additionalItems`, `items` with an array).
///
/// As in the draft, annotations are ignored: `title`, `description`, `default`, `examples`, `deprecated`, `readOnly`,
/// `writeOnly`, `$comment`, `contentEncoding`, `contentMediaType`, `contentSchema`; also members that are not keywords
/// of any draft, and `format` unless `checksFormats` is set.
///
/// Numbers are compared by their exact decimal value, so `1` equals `1.0`; strings by their code points.
///
/// - Important: A pattern is a Swift `Regex` over code points, searched for anywhere in the string, with ASCII `\d`
///   and `\w`. Unlike ECMAScript's it has no lookbehind, no `\cX` and no `[^]` (rejected), and `&&`, `--` and `~~`
///   mean set operations inside brackets. It backtracks: a pattern like `^(a+)+$` takes exponential time, so accept
///   schemas only from trusted sources.
public struct JSONSchema: Sendable {
    let nodes: [SchemaNode]
    let tracksEvaluated: Bool

    /// Compiles a schema, and all schemas it references.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - checksFormats: Whether `format` rejects strings of another format; `false` by default, as in the draft.
    ///     Supported are `date-time`, `date`, `time`, `email`, `hostname`, `ipv4`, `ipv6`, `uri`, `uri-reference`,
    ///     `uuid`, `json-pointer`, `relative-json-pointer` and `regex`; a schema with another format is then
    ///     rejected.
    /// - Throws: ``SchemaError`` with code `malformed` for a keyword with an invalid value, `unsupported` for
    ///   unsupported keywords, `unresolvedReference`, `endlessReference` for a reference that leads back to itself at
    ///   the same value, `tooDeep` past ``JSONLimits/depth`` levels.
    /// - Complexity: O(*n*) in the size of the schema.
    public init(_ schema: JSONValue, checksFormats: Bool = false) throws(SchemaError) {
        var compiler = SchemaCompiler(root: schema, checksFormats: checksFormats)
        nodes = try compiler.compile()
        tracksEvaluated = compiler.tracksEvaluated
    }

    /// The problems of a value, in the order of the schema's keywords; empty if the value is valid.
    ///
    /// The work is bounded: past 512 levels or 10,000,000 steps the only problem has the
    /// keyword `limit`.
    public func problems(in value: JSONValue) -> [SchemaProblem] {
        var evaluation = SchemaEvaluation(nodes: nodes, tracksEvaluated: tracksEvaluated)
        return evaluation.run(value)
    }

    /// Checks a value.
    ///
    /// - Throws: The first of the ``problems(in:)``.
    public func validate(_ value: JSONValue) throws(SchemaProblem) {
        if let problem = problems(in: value).first { throw problem }
    }
}

/// The reason why a JSON value is not a usable schema.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case malformed, unsupported, unresolvedReference, endlessReference, tooDeep }
        private let kind: Kind

        /// A keyword has a value that the draft does not allow.
        public static let malformed = Code(kind: .malformed)
        /// A keyword asserts something this implementation does not check.
        public static let unsupported = Code(kind: .unsupported)
        /// A `$ref` has no target in the schema.
        public static let unresolvedReference = Code(kind: .unresolvedReference)
        /// A `$ref` leads back to itself without going further into the value.
        public static let endlessReference = Code(kind: .endlessReference)
        /// The schema is nested too deeply.
        public static let tooDeep = Code(kind: .tooDeep)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of the failure.
    public let code: Code
    /// The position in the schema, as a JSON pointer.
    public let path: String
    /// The problem, in human-readable form.
    public let message: String

    init(_ code: Code, _ message: String, at path: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// The message with the position.
    public var description: String { "\(message) at \(path.isEmpty ? "the root" : path) of the schema" }
}
