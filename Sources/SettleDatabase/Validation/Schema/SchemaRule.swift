import SettleCore

/// One keyword of a schema with its value, ready to be checked.
protocol SchemaRule: Sendable {
    /// Reports to the evaluation what the rule does not allow about a value.
    func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation)
}
