internal import SettleCore
internal import SettleDatabase

/// The greatest or least distinct values, up to a number: `_top_N` and `_bottom_N`.
struct RankReducer: ViewReducer {
    let count: Int
    let isTop: Bool

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        groups.map { rows in ranked(rows.lazy.compactMap { try? JSON(utf8: Array($0.value)) }) }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        groups.map { values in ranked(values.lazy.flatMap { (try? JSON(utf8: $0))?.array ?? [] }) }
    }

    private func ranked(_ values: some Sequence<JSON>) -> [UInt8] {
        var best: [JSON] = []
        for value in values {
            let place = best.firstIndex { Collation.compare($0, value) != (isTop ? .after : .before) } ?? best.count
            if place < best.count, Collation.compare(best[place], value) == .same { continue }
            guard place < count else { continue }
            best.insert(value, at: place)
            if best.count > count { best.removeLast() }
        }
        return JSON.array(best).utf8
    }
}
