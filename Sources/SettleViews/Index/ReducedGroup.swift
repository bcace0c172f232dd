/// A key and the reduced value of its rows.
package struct ReducedGroup: Sendable {
    /// The key, as JSON text.
    package let key: [UInt8]
    /// The value, as JSON text.
    package let value: [UInt8]
}
