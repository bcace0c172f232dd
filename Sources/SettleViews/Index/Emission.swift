/// A key and a value that a map function emitted.
package struct Emission: Sendable {
    /// The number of the view that emitted it.
    package let view: Int
    /// The key, as JSON text.
    package let key: [UInt8]
    /// The value, as JSON text.
    package let value: [UInt8]

    /// Makes an emission.
    package init(view: Int, key: [UInt8], value: [UInt8]) {
        self.view = view
        self.key = key
        self.value = value
    }
}
