/// The limits of the JSON codec.
public enum JSONLimits {
    /// How deep arrays and objects may be nested.
    public static let depth = 1024
    /// How deep a text that contains documents may be nested: each document may be as deep as a separate one.
    static let envelopeDepth = depth + 16
    /// How many digits an integer may have; conversion to binary takes quadratic time.
    public static let integerDigits = 65_536
}

extension JSONValue {
    /// Checks that arrays and objects are nested no deeper than ``JSONLimits/depth``, before anything recurses into them.
    ///
    /// - Throws: ``JSONError`` with code `tooDeep`.
    /// - Complexity: O(*n*) in values.
    package func checkDepth() throws(JSONError) {
        guard isNested(deeperThan: JSONLimits.depth) else { return }
        throw JSONError(.tooDeep, "more than \(JSONLimits.depth) levels of arrays and objects")
    }

    private func isNested(deeperThan depth: Int) -> Bool {
        switch self {
        case .array(let elements): depth == 0 || elements.contains { $0.isNested(deeperThan: depth - 1) }
        case .object(let members): depth == 0 || members.contains { $0.value.isNested(deeperThan: depth - 1) }
        case .null, .bool, .number, .string: false
        }
    }
}
