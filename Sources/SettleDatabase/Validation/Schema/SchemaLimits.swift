/// How much work the check of one value against a schema may be.
public enum SchemaLimits {
    /// How deep subschemas may be applied inside of one another; a bare `$ref` does not count.
    ///
    /// A level takes up to 2 KB of stack in a debug build.
    public static let depth = 512
    /// How many subschemas may be applied in all.
    public static let steps = 10_000_000
}
