import RevisionTree

/// One keyword of a schema with its value, ready to be checked.
protocol SchemaRule: Sendable {
    /// Tells the evaluation what about a value is not allowed.
    func check(_ value: JSON, _ evaluation: inout SchemaEvaluation)
}
