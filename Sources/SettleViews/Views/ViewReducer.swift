internal import SettleCore

/// Reduces many rows to one value.
///
/// Values are JSON text. Intermediate values have the reducer's own format, and are stored with the rows, so that a
/// range is reduced without reading all of it:
///
///     rows ── reduce ─→ value ┐
///     rows ── reduce ─→ value ┼─ rereduce ─→ value ── finish ─→ what is shown
///     (kept)            value ┘
package protocol ViewReducer: Sendable {
    /// Reduces rows to a value for each group.
    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]]

    /// Reduces values of ``reduce(_:)``, or of this method, to a value for each group.
    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]]

    /// Converts an intermediate value to the result.
    func finish(_ value: [UInt8]) throws -> [UInt8]
}

extension ViewReducer {
    /// Returns the value unchanged.
    package func finish(_ value: [UInt8]) throws -> [UInt8] { value }
}

// MARK: - CountReducer

/// Counts rows: `_count`.
struct CountReducer: ViewReducer {
    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] { groups.map { Self.value($0.count) } }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        groups.map { values in
            Self.value(values.reduce(0) { $0 + (Int(String(decoding: $1, as: UTF8.self)) ?? 0) })
        }
    }

    /// The value for a number of rows.
    static func value(_ count: Int) -> [UInt8] { Array(String(count).utf8) }
}
