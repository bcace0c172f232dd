import SettleTesting

@testable import SettleCore
@testable import SettleDatabase

/// Types that the coding tests encode.
enum CodingSample {
    struct Everything: Codable, Hashable {
        var zeta = "z"
        var alpha: Int
        var bool: Bool
        var float: Float
        var double: Double
        var small: Int8
        var wide: UInt64
        var widest: Int128
        var none: Int?
        var some: Int?
        var list: [String?]
        var nested: [[Int]]
        var bytes: [UInt8]
        var table: [String: [String: Bool]]
        var kind: Kind
        var kinds: [Kind]

        init(_ samples: inout SeededRandom) {
            alpha = .random(in: .min ... .max, using: &samples)
            bool = .random(using: &samples)
            float = Float(bitPattern: UInt32(truncatingIfNeeded: samples.next()))
            if !float.isFinite { float = 0.1 }
            double = Double(bitPattern: samples.next())
            if !double.isFinite { double = 0.1 }
            small = .random(in: .min ... .max, using: &samples)
            wide = samples.next()
            widest = Int128(_low: samples.next(), _high: Int64(bitPattern: samples.next()))
            some = alpha / 2
            list = [CodingSample.text(&samples), nil, CodingSample.text(&samples)]
            nested = [[], [1, alpha], [-1]]
            bytes = (0..<8).map { _ in .random(in: 0...255, using: &samples) }
            table = ["": ["x": bool], "k" + CodingSample.text(&samples): [:]]
            kind = bool ? .plain : .pair(alpha, name: CodingSample.text(&samples))
            kinds = [.plain, .pair(1, name: ""), .raw(.two)]
        }
    }

    /// Text of characters that JSON escapes, or that take several bytes.
    private static func text(_ samples: inout SeededRandom) -> String {
        String((0..<samples.below(20)).compactMap { _ in samples.pick(Array("ab\"\\/\n\u{0}\u{1F}\u{7F}é\u{2028}😀 ")) })
    }

    enum Kind: Codable, Hashable {
        case plain
        case pair(Int, name: String)
        case raw(Raw)
    }

    enum Raw: String, Codable { case one, two }

    struct One<Value: Codable>: Codable { var value: Value }

    struct Empty: Codable, Hashable {}

    /// Encodes nothing at all.
    struct Silent: Encodable { func encode(to encoder: any Encoder) {} }

    class Animal: Codable {
        var legs = 4
        init() {}
    }

    final class Dog: Animal {
        var name = "Rex"
        private enum CodingKeys: String, CodingKey { case name, kennel }
        private let superKey: CodingKeys?

        init(superKey: Bool) {
            self.superKey = superKey ? .kennel : nil
            super.init()
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            superKey = container.contains(.kennel) ? .kennel : nil
            try super.init(
                from: superKey == nil ? container.superDecoder() : container.superDecoder(forKey: .kennel))
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try super.encode(to: superKey.map { container.superEncoder(forKey: $0) } ?? container.superEncoder())
            try container.encode(name, forKey: .name)
        }
    }
}
