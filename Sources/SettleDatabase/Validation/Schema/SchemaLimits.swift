/// How much work the check of one value against a schema may be.
public enum SchemaLimits {
    /// How deep subschemas may be applied inside of one another.
    public static let depth = 2048
    /// How many subschemas may be applied in all.
    public static let steps = 10_000_000
}
