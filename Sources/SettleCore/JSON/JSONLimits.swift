/// The limits of the JSON codec.
public enum JSONLimits {
    /// How deep arrays and objects may be nested.
    public static let depth = 1024
    /// How deep a text that contains documents may be nested: each document may be as deep as a separate one.
    static let envelopeDepth = depth + 16
    /// How many digits an integer may have; conversion to binary takes quadratic time.
    public static let integerDigits = 65_536
}
