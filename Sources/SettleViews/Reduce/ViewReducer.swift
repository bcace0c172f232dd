/// What makes one value of many rows.
///
/// Values are JSON text. Those between are of the reducer's own form, and are kept with the rows, so that a range is reduced
/// without reading all of it:
///
///     rows ── reduce ─→ value ┐
///     rows ── reduce ─→ value ┼─ rereduce ─→ value ── finish ─→ what is shown
///     (kept)            value ┘
package protocol ViewReducer: Sendable {
    /// Reduces rows, a value for each group.
    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]]

    /// Reduces values of ``reduce(_:)`` or of this, a value for each group.
    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]]

    /// What is shown of a value.
    func finish(_ value: [UInt8]) throws -> [UInt8]
}

extension ViewReducer {
    /// The value itself.
    package func finish(_ value: [UInt8]) throws -> [UInt8] { value }
}
