/// A key and what the rows that belong to it were reduced to.
package struct ReducedGroup: Sendable {
    /// The key, as JSON text.
    package let key: [UInt8]
    /// The value, as JSON text.
    package let value: [UInt8]
}
