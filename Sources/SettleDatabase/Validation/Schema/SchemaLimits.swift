/// Limits on checking one value against a schema.
public enum SchemaLimits {
    /// How deep subschemas may be nested; a bare `$ref` does not count.
    ///
    /// A level takes up to 2 KB of stack in a debug build.
    public static let depth = 512
    /// How many subschemas may be applied in total.
    public static let steps = 10_000_000
}
