/// Reads the numbers of the packed table: gzip in base64, and in it unsigned numbers in groups of seven bits.
struct CollationReader {
    private var bytes: [UInt8] = []
    private var place = 0

    init(_ packed: StaticString) {
        let compressed = packed.withUTF8Buffer(Self.decode)
        // The bytes are the program's own; a test reads all of them.
        guard let gzip = try? Gzip(.expand) else { return }
        compressed.withUnsafeBytes { input in
            try? gzip.process(input, isLast: true) { bytes += $0 }
        }
    }

    /// The next number; zero after the end.
    mutating func number() -> Int {
        var (value, shift) = (0, 0)
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            value |= Int(byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 { break }
        }
        return value
    }

    /// The next numbers.
    mutating func column(_ count: Int) -> [Int] {
        var numbers: [Int] = []
        numbers.reserveCapacity(count)
        for _ in 0..<count { numbers.append(number()) }
        return numbers
    }

    /// The next numbers, each given as the step from the one before.
    mutating func steps(_ count: Int, areSigned: Bool = false) -> [Int] {
        var last = 0
        return column(count).map { step in
            last += areSigned ? Self.signed(step) : step
            return last
        }
    }

    /// A number that may be below zero.
    static func signed(_ number: Int) -> Int { number & 1 == 0 ? number >> 1 : -(number >> 1) - 1 }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var digits = [UInt8](repeating: 0, count: 256)
        let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        alphabet.withUTF8Buffer { for (digit, letter) in $0.enumerated() { digits[Int(letter)] = UInt8(digit) } }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        for (index, letter) in text.enumerated() {
            bits = bits << 6 | UInt32(digits[Int(letter)])
            guard index & 3 == 3 else { continue }
            for shift in [16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        }
        return bytes
    }
}
