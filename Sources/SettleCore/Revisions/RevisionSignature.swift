/// The part of a revision id after the dash: usually the MD5 of the edit, but peers may use any text.
///
/// CouchDB keeps a signature of 32 hexadecimal digits as 16 bytes, and every other one as its text (SEMANTICS 64).
/// So
///
/// - capital letters in a 32-digit signature are ignored: it is printed in lower case (SEMANTICS 65);
/// - a text of exactly 16 bytes *is* the signature with those bytes, and prints as 32 digits;
/// - a comparison between the two forms compares raw bytes with ASCII: `ff…` is greater than `g`.
public struct RevisionSignature: Hashable, Sendable {
    /// The first eight bytes of a digest, as a big-endian word; 0 for text.
    let high: UInt64
    /// The last eight bytes of a digest; 0 for text.
    let low: UInt64
    /// The UTF-8 of a text of any length except for sixteen bytes; `nil` for a digest.
    let text: [UInt8]?

    /// Makes a signature from a digest's 16 bytes, given as two big-endian words.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        text = nil
    }

    private init(text: [UInt8]) {
        high = 0
        low = 0
        self.text = text
    }

    /// Makes a signature from the text after the dash, or returns `nil` for 32 bytes that are not all hex digits.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        let signature = text.withUTF8 { bytes -> RevisionSignature? in
            switch bytes.count {
            case 16: RevisionSignature(high: Self.word(bytes[0..<8]), low: Self.word(bytes[8..<16]))
            case 32: Self.hexDigest(bytes)
            default: RevisionSignature(text: Array(bytes))
            }
        }
        guard let signature else { return nil }
        self = signature
    }

    private static func word(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func hexDigest(_ bytes: UnsafeBufferPointer<UInt8>) -> RevisionSignature? {
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            guard let digit = hexDigitValue(byte) else { return nil }
            if index < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
        }
        return RevisionSignature(high: words.0, low: words.1)
    }
}

/// The value of an ASCII hex digit, or nil.
func hexDigitValue(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte &- UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte &- UInt8(ascii: "a") &+ 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte &- UInt8(ascii: "A") &+ 10)
    default: nil
    }
}

extension RevisionSignature: Comparable, CustomStringConvertible {
    /// Whether both are the same digest or the same text.
    @inline(__always)
    public static func == (left: RevisionSignature, right: RevisionSignature) -> Bool {
        left.high == right.high && left.low == right.low
            && (left.text == nil ? right.text == nil : left.text == right.text)
    }

    /// Orders signatures as CouchDB does: by raw bytes, a prefix before longer text (SEMANTICS 64).
    @inline(__always)
    public static func < (left: RevisionSignature, right: RevisionSignature) -> Bool {
        if left.text == nil, right.text == nil { return (left.high, left.low) < (right.high, right.low) }
        return left.rawBytes.lexicographicallyPrecedes(right.rawBytes)
    }

    /// The bytes CouchDB stores and compares: the 16 bytes of a digest, otherwise the UTF-8 text.
    public var rawBytes: [UInt8] {
        text ?? withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    /// The signature as printed after the dash: 32 lower-case digits, or the text.
    public var description: String {
        if let text { return String(decoding: text, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: 32) { buffer in
            writeDigits(to: buffer)
            return 32
        }
    }

    /// Whether it is a digest rather than text.
    var isDigest: Bool { text == nil }

    /// Writes the 32 lower-case digits of a digest to the beginning of a buffer.
    func writeDigits(to buffer: UnsafeMutableBufferPointer<UInt8>) {
        for index in 0..<32 {
            let word = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - (index % 16) * 4)) & 15
            buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }
}

/// The name that a Couchbase Lite 4 device gives to a version of a document: a signature of 48 hexadecimal digits
/// with the time and the device (decision 54).
package struct DeviceVersion: Hashable, Sendable {
    /// The id of a device, 128 bits.
    package struct Device: Hashable, Sendable {
        package let high: UInt64
        package let low: UInt64

        package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }
    }

    /// Nanoseconds since 1970.
    package let time: UInt64
    package let device: Device

    /// The range of valid times; the first one is in 2006.
    package static let times: Range<UInt64> = 1 << 60..<1 << 63

    /// Reads a version from a signature; `nil` if it is another signature.
    package init?(_ signature: RevisionSignature) {
        guard let text = signature.text, text.count == 48 else { return nil }
        var words: [UInt64] = [0, 0, 0]
        for (index, byte) in text.enumerated() {
            guard let digit = hexDigitValue(byte) else { return nil }
            words[index / 16] = words[index / 16] << 4 | digit
        }
        guard Self.times.contains(words[0]) else { return nil }
        (time, device) = (words[0], Device(high: words[1], low: words[2]))
    }
}
