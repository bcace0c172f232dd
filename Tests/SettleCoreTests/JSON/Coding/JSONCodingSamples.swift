@testable import SettleCore

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

        init(_ samples: inout JSONSamples) {
            alpha = .random(in: .min ... .max, using: &samples.numbers)
            bool = .random(using: &samples.numbers)
            float = Float(bitPattern: UInt32(truncatingIfNeeded: samples.numbers.next()))
            if !float.isFinite { float = 0.1 }
            double = Double(bitPattern: samples.numbers.next())
            if !double.isFinite { double = 0.1 }
            small = .random(in: .min ... .max, using: &samples.numbers)
            wide = samples.numbers.next()
            widest = Int128(_low: samples.numbers.next(), _high: Int64(bitPattern: samples.numbers.next()))
            some = alpha / 2
            list = [samples.string(), nil, samples.string()]
            nested = [[], [1, alpha], [-1]]
            bytes = (0..<8).map { _ in .random(in: 0...255, using: &samples.numbers) }
            table = ["": ["x": bool], "k" + samples.string(): [:]]
            kind = bool ? .plain : .pair(alpha, name: samples.string())
            kinds = [.plain, .pair(1, name: ""), .raw(.two)]
        }
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
