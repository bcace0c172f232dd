/// The part of a revision id after the dash: usually the MD5 of the edit, but any text a peer made up.
///
/// CouchDB keeps a signature of 32 hexadecimal digits as 16 bytes, and every other one as its text (SEMANTICS 64), so
///
/// - capitals in a 32-digit signature do not count: it is printed in lower case (SEMANTICS 65);
/// - a text of exactly 16 bytes *is* the signature with those bytes, and prints as 32 digits;
/// - a comparison between the two forms is one of raw bytes against ASCII: `ff…` beats `g`.
public struct RevisionSignature: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        /// Sixteen bytes as two big-endian words.
        case digest(UInt64, UInt64)
        /// The UTF-8 of a text of any length but sixteen bytes.
        case text([UInt8])
    }

    let form: Form

    /// Makes a signature of a digest's 16 bytes, given as two big-endian words.
    public init(high: UInt64, low: UInt64) { form = .digest(high, low) }

    /// Makes a signature of the text behind the dash, or returns `nil` for 32 bytes that are not all hex digits.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        let form = text.withUTF8 { bytes -> Form?? in
            switch bytes.count {
            case 16: .some(.digest(Self.word(bytes[0..<8]), Self.word(bytes[8..<16])))
            case 32: .some(Self.hexDigest(bytes))
            default: .none
            }
        }
        switch form {
        case .none: self.form = .text(Array(text.utf8))
        case .some(.none): return nil
        case .some(.some(let form)): self.form = form
        }
    }

    private static func word(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func hexDigest(_ bytes: UnsafeBufferPointer<UInt8>) -> Form? {
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            guard let digit = hexDigitValue(byte) else { return nil }
            if index < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
        }
        return .digest(words.0, words.1)
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
    /// Orders signatures as CouchDB does: raw bytes, a prefix before what it begins (SEMANTICS 64).
    public static func < (left: RevisionSignature, right: RevisionSignature) -> Bool {
        switch (left.form, right.form) {
        case (.digest(let a, let b), .digest(let c, let d)): (a, b) < (c, d)
        case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
        default: left.rawBytes.lexicographicallyPrecedes(right.rawBytes)
        }
    }

    /// The bytes CouchDB stores and compares: 16 of a digest, else the UTF-8 text.
    public var rawBytes: [UInt8] {
        switch form {
        case .digest(let high, let low):
            (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - ($0 % 8) * 8)) }
        case .text(let text): text
        }
    }

    /// The signature as it stands behind the dash: 32 lower-case digits, or the text.
    public var description: String {
        switch form {
        case .digest(let high, let low): hexadecimal(high, low)
        case .text(let text): String(decoding: text, as: UTF8.self)
        }
    }
}

/// Two words as 32 lower-case hex digits.
private func hexadecimal(_ high: UInt64, _ low: UInt64) -> String {
    String(unsafeUninitializedCapacity: 32) { buffer in
        for index in 0..<32 {
            let word = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - (index % 16) * 4)) & 15
            buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
        return 32
    }
}
