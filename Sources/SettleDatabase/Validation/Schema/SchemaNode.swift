import SettleCore

/// A compiled schema or subschema.
struct SchemaNode: Sendable {
    /// Whether this is the schema `false`.
    var isNever = false
    /// The target of `$ref`, as an index into all nodes.
    var reference: Int?
    /// The assertions, in the order of the schema's members.
    var rules: [any SchemaRule] = []
    /// The subschemas that are applied to the same value as this one.
    var inPlace: [Int] = []
}
