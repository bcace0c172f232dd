internal import SettleCore

/// Counts rows: `_count`.
struct CountReducer: ViewReducer {
    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] { groups.map { Array(String($0.count).utf8) } }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        groups.map { values in
            Array(String(values.reduce(0) { $0 + (Int(String(decoding: $1, as: UTF8.self)) ?? 0) }).utf8)
        }
    }
}
