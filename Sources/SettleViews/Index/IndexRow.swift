/// A row of an index: what a map function emitted for a document.
package struct IndexRow: Sendable {
    /// The key, as JSON text.
    package let key: ArraySlice<UInt8>
    /// The id of the document it was emitted for.
    package let id: ArraySlice<UInt8>
    /// The value, as JSON text.
    package let value: ArraySlice<UInt8>
    /// The bytes it is ordered by.
    let position: ArraySlice<UInt8>
}
