#if os(Linux)
import SettleTesting
import Foundation
import SettleCore
@testable import SettleQuery
import Testing

/// Random strings, compared by ICU and by Settle: the order and the bytes of the keys have to be the same.
struct ICUDifferenceTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// How many pairs of each kind are compared; `SETTLE_COLLATION_PAIRS` asks for more.
    private static let pairs = Int(environment["SETTLE_COLLATION_PAIRS"] ?? "") ?? 5_000

    @Test(.enabled(if: ICU.shared?.version == Collation.version), arguments: TextKind.allCases)
    func `the order and the keys are those of ICU`(kind: TextKind) throws {
        let icu = try #require(ICU.shared)
        let seed = UInt64(Self.environment["SETTLE_COLLATION_SEED"] ?? "") ?? UInt64.random(in: 0...UInt64.max)
        print("collation of \(kind): \(Self.pairs) pairs, SETTLE_COLLATION_SEED=\(seed)")
        var generator = SeededRandom(seed: seed)
        for _ in 0..<Self.pairs {
            let (left, right) = kind.pair(&generator)
            guard let difference = difference(left, right, icu) else { continue }
            let texts = [left, right].map {
                $0.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
            }
            Issue.record("\(difference) with seed \(seed): \(texts)")
            return
        }
    }

    private func difference(_ left: String, _ right: String, _ icu: ICU) -> String? {
        let keys = [left, right].map { SortKey.of(.string($0)) }
        let expected = [left, right].map { [0x40] + icu.key(of: $0) }
        if keys != expected { return "other keys: \(keys) for \(expected)" }
        let order = Collation.compare(.string(left), .string(right))
        if order.rawValue != icu.order(left, right) { return "another order: \(order)" }
        if order != Collation.compare(.string(right), .string(left)).reversed {
            return "an order that depends on the side"
        }
        let byKeys: Collation.Order =
            keys[0] == keys[1] ? .same : keys[0].lexicographicallyPrecedes(keys[1]) ? .before : .after
        return order == byKeys ? nil : "an order unlike that of the keys"
    }
}
#endif
