import RevisionTree

/// A compiled schema or subschema.
struct SchemaNode: Sendable {
    /// Whether this is the schema `false`.
    var isNever = false
    /// Where `$ref` leads, as an index into all nodes.
    var reference: Int?
    /// What is asserted, in the order of the schema's members.
    var rules: [any SchemaRule] = []
    /// The subschemas that are applied to the same value as this one.
    var inPlace: [Int] = []
}
