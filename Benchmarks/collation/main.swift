// Times sort keys and comparisons against ICU in one process, and compares random pairs in bulk: run.sh beside it.
import CICU

guard let icu = ICU.shared else { fatalError("ICU has no data") }
let clock = ContinuousClock()
let start = clock.now
_ = CollationTable.shared
print("unpacking: \(clock.now - start); ICU \(icu.version), table \(CollationData.version)")

func key(_ text: String) -> [UInt8] {
    var (text, bytes) = (text, [UInt8]())
    text.withUTF8 { CollationKey(of: $0, in: .shared).append(to: &bytes) }
    bytes.append(0)
    return bytes
}

func compare(_ left: String, _ right: String) -> Int {
    var (left, right) = (left, right)
    return left.withUTF8 { left in
        right.withUTF8 { CollationComparison(left: left, right: $0, table: .shared).order() }
    }
}

/// The nanoseconds of one call, the best of five rounds.
func nanoseconds(_ texts: [String], _ body: (String, String) -> Int) -> Int {
    var (best, sum) = (Duration.seconds(1000), 0)
    for _ in 0..<5 {
        let time = clock.measure {
            for index in 1..<texts.count { sum &+= body(texts[index - 1], texts[index]) }
        }
        best = min(best, time)
    }
    precondition(sum != 1)
    return Int(best / .nanoseconds(1)) / (texts.count - 1)
}

nonisolated(unsafe) var generator = SeededRandom(seed: 72)
func texts(_ count: Int, _ ranges: [ClosedRange<UInt32>]) -> [String] {
    (0..<20_000).map { _ in
        var text = String.UnicodeScalarView()
        for _ in 0..<count {
            let range = ranges.randomElement(using: &generator) ?? 0x61...0x7A
            text.append(contentsOf: [Unicode.Scalar(UInt32.random(in: range, using: &generator))].compactMap { $0 })
        }
        return String(text)
    }
}
for (name, texts) in [
    ("12 ASCII letters", texts(12, [0x61...0x7A])), ("20 letters of Latin", texts(20, [0x61...0x7A, 0xE0...0xFF])),
    ("8 Han", texts(8, [0x4E00...0x9FFF])), ("10 below U+3000", texts(10, [0x20...0x2FFF])),
    ("10 Thai", texts(10, [0xE01...0xE44])),
    ("24 ASCII, 20 alike", texts(4, [0x61...0x7A]).map { "document:2026-11-23:" + $0 }),
] {
    let keys = (
        nanoseconds(texts) { left, _ in key(left).count }, nanoseconds(texts) { left, _ in icu.key(of: left).count }
    )
    let orders = (nanoseconds(texts, compare), nanoseconds(texts) { icu.order($0, $1) })
    print("\(name): key \(keys.0) ns, ICU \(keys.1) ns; comparison \(orders.0) ns, ICU \(orders.1) ns")
}

let pairs = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 0
var (otherKeys, otherOrders) = (0, 0)
for kind in TextKind.allCases where pairs > 0 {
    for _ in 0..<pairs {
        let (left, right) = kind.pair(&generator)
        let keys = [left, right].map(icu.key)
        if key(left) != keys[0] || key(right) != keys[1] { otherKeys += 1 }
        let order = compare(left, right)
        let byKeys = keys[0] == keys[1] ? 0 : keys[0].lexicographicallyPrecedes(keys[1]) ? -1 : 1
        if order != icu.order(left, right) || order != byKeys { otherOrders += 1 }
    }
}
print(
    "\(pairs * TextKind.allCases.count) random pairs: \(otherKeys) with other keys, \(otherOrders) with another order")
