public import RevisionTree

/// A JSON Schema, compiled once, that values can be checked against.
///
///     let schema = try JSONSchema(["type": "object", "required": ["name"]])
///     schema.problems(in: ["name": "Milk"])      // []
///     try schema.validate([:])                   // throws: (root): required: there is no member "name"
///
/// Supported is draft 2020-12 within one document: all applicators and assertions, `unevaluatedProperties` and
/// `unevaluatedItems` among them, and `$ref` to `#`, `#/pointer` and `#anchor`. Refused with a ``SchemaError`` is
/// what would otherwise be silently ignored or misread: `$ref` to other documents, `$dynamicRef`, `$vocabulary`, `$id`
/// below the root, another `$schema`, and keywords of older drafts that assert something (`dependencies`,
/// `additionalItems`, `items` with an array).
///
/// Ignored, as the draft has it, are annotations: `title`, `description`, `default`, `examples`, `deprecated`,
/// `readOnly`, `writeOnly`, `$comment`, `contentEncoding`, `contentMediaType`, `contentSchema`; members that are no keyword of any
/// draft; and `format`, unless it is asked for.
///
/// Numbers are compared by their exact decimal value, so `1` is `1.0`; strings by their code points.
///
/// - Important: A pattern is a Swift `Regex` over code points, searched for anywhere in the string, with ASCII `\d` and
///   `\w`. Unlike ECMAScript's it has no lookbehind, no `\cX` and no `[^]` (refused), and `&&`, `--` and `~~` mean set
///   operations inside of brackets. It backtracks: one like `^(a+)+$` takes exponential time, so take schemas only
///   from those you trust.
public struct JSONSchema: Sendable {
    let nodes: [SchemaNode]
    let tracksEvaluated: Bool

    /// Compiles a schema, and everything it refers to.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - checksFormats: Whether `format` refuses strings that do not have it; no unless given, as in the draft. Known are
    ///     `date-time`, `date`, `time`, `email`, `hostname`, `ipv4`, `ipv6`, `uri`, `uri-reference`, `uuid`, `json-pointer`,
    ///     `relative-json-pointer` and `regex`; a schema with another one is refused then.
    /// - Throws: ``SchemaError`` with code `malformed` for a keyword whose value the draft does not allow, `unsupported`
    ///   for what is refused, `unresolvedReference`, `endlessReference` for one that leads back to itself at the same
    ///   value, `tooDeep` past ``JSONLimits/depth`` levels.
    /// - Complexity: O(*n*) in the size of the schema.
    public init(_ schema: JSON, checksFormats: Bool = false) throws(SchemaError) {
        var compiler = SchemaCompiler(root: schema, checksFormats: checksFormats)
        nodes = try compiler.compile()
        tracksEvaluated = compiler.tracksEvaluated
    }

    /// Everything in a value that the schema does not allow, in the order of the schema's keywords; empty for none.
    ///
    /// The work is bounded: past ``SchemaLimits/depth`` levels or ``SchemaLimits/steps`` steps there is one problem
    /// only, with the keyword `limit`.
    public func problems(in value: JSON) -> [SchemaProblem] {
        var evaluation = SchemaEvaluation(nodes: nodes, tracksEvaluated: tracksEvaluated)
        return evaluation.run(value)
    }

    /// Checks a value.
    ///
    /// - Throws: The first of the ``problems(in:)``.
    public func validate(_ value: JSON) throws(SchemaProblem) {
        if let problem = problems(in: value).first { throw problem }
    }
}
