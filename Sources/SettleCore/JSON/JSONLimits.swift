/// What the JSON codec refuses to go beyond.
public enum JSONLimits {
    /// How deep arrays and objects may be nested.
    public static let depth = 1024
    /// How deep a text may be nested that has documents in it: each of them may be as deep as one that stands alone.
    static let envelopeDepth = depth + 16
    /// How many digits an integer may have; conversion to binary takes quadratic time.
    public static let integerDigits = 65_536
}
