internal import SettleCore
internal import SettlePlatform

/// Estimates the number of distinct keys: `_approx_count_distinct`.
///
/// Up to a few hundred keys the hashes are stored, and the number is exact. Beyond that it is estimated by
/// HyperLogLog with 2,048 registers, with a typical error of 2 %.
struct DistinctReducer: ViewReducer {
    private static let bits = 11
    private static let registers = 1 << bits
    /// The number of hashes above which registers are used.
    private static let maximumHashes = 200

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        groups.map { rows in Self.packed(Set(rows.map { Self.hash($0.key) }), nil) }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        groups.map { values in
            var hashes: Set<UInt64> = []
            var sketch: [UInt8]?
            for value in values {
                let (more, other) = Self.unpacked(value)
                hashes.formUnion(more)
                if let other { sketch = sketch.map { zip($0, other).map(max) } ?? other }
            }
            return Self.packed(hashes, sketch)
        }
    }

    func finish(_ value: [UInt8]) throws -> [UInt8] {
        let (hashes, sketch) = Self.unpacked(value)
        return Array(String(sketch.map(Self.estimate) ?? hashes.count).utf8)
    }

    private static func packed(_ hashes: Set<UInt64>, _ sketch: [UInt8]?) -> [UInt8] {
        if sketch == nil, hashes.count <= maximumHashes {
            let numbers = hashes.sorted().map { "\"" + String($0, radix: 16) + "\"" }
            return Array("[\(numbers.joined(separator: ","))]".utf8)
        }
        var registers = sketch ?? [UInt8](repeating: 0, count: Self.registers)
        for hash in hashes {
            let index = Int(hash >> UInt64(64 - bits))
            let rank = UInt8(min((hash << UInt64(bits)).leadingZeroBitCount, 64 - bits) + 1)
            registers[index] = max(registers[index], rank)
        }
        // A rank is at most 54, so each becomes a printable character.
        return [UInt8(ascii: "\"")] + registers.map { $0 + 0x30 }.map { $0 == 0x5C ? 0x7E : $0 } + [UInt8(ascii: "\"")]
    }

    private static func unpacked(_ value: [UInt8]) -> (Set<UInt64>, [UInt8]?) {
        if value.first == UInt8(ascii: "\"") {
            let registers = value.dropFirst().dropLast().map { ($0 == 0x7E ? 0x5C : $0) &- 0x30 }
            return ([], registers.count == Self.registers ? registers : nil)
        }
        let numbers = (try? JSONValue(utf8: value))?.array ?? []
        return (Set(numbers.compactMap { $0.string.flatMap { UInt64($0, radix: 16) } }), nil)
    }

    private static func estimate(_ sketch: [UInt8]) -> Int {
        let count = Double(sketch.count)
        let sum = sketch.reduce(0.0) { $0 + 1 / Double(UInt64(1) << UInt64(min($1, 63))) }
        let raw = 0.7213 / (1 + 1.079 / count) * count * count / sum
        let zeros = sketch.count { $0 == 0 }
        guard raw <= 2.5 * count, zeros > 0 else { return Int(raw.rounded()) }
        return Int((count * naturalLogarithm(count / Double(zeros))).rounded())
    }

    private static func hash(_ key: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        // Mixes the bits, so that each depends on all others.
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ hash >> 33
    }
}

// MARK: - NaturalLogarithm

/// The natural logarithm.
func naturalLogarithm(_ value: Double) -> Double { log(value) }
