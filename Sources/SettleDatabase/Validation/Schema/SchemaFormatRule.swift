import SettleCore

/// `format`, if formats are checked.
struct SchemaFormatRule: SchemaRule {
    let format: SchemaFormat

    func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
        guard case .string(let text) = value, !format.allows(text) else { return }
        evaluation.report("format", "is not of the format \(format.rawValue): \(text)")
    }
}
