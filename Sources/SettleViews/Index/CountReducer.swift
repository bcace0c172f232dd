internal import SettleCore

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
