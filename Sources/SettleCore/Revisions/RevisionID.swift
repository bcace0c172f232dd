/// The id of one revision: `N-signature`, its generation and a signature that distinguishes it within the generation.
///
///     RevisionID("2-7051cbe5c8faecd085a3fa619e6e6337")?.generation    // 2
///
/// Revision ids are the same as CouchDB's (DESIGN.md law 2), so the same edit has the same id on every peer. They are
/// ordered by generation as a number and then by signature: `10-a` comes after `9-f` (SEMANTICS 9, 63).
public struct RevisionID: Hashable, Sendable {
    /// The depth of the revision in its branch, from 1.
    public let generation: UInt64
    /// Distinguishes revisions of one generation.
    public let signature: RevisionSignature

    /// The highest valid generation: the largest signed 64-bit integer.
    public static let maximumGeneration = UInt64(Int64.max)

    /// Creates a revision id from its parts; `nil` if the generation is 0 or past ``maximumGeneration``.
    public init?(generation: UInt64, signature: RevisionSignature) {
        guard generation > 0, generation <= Self.maximumGeneration else { return nil }
        self.generation = generation
        self.signature = signature
    }

    init(unchecked generation: UInt64, _ signature: RevisionSignature) {
        self.generation = generation
        self.signature = signature
    }

    /// Parses `N-signature`; `nil` if the text is not a revision id.
    ///
    /// Leading zeros of the generation are ignored. The signature may be any text, even empty; 32 bytes must be
    /// hexadecimal digits, in either case (SEMANTICS 65).
    public init?(_ text: some StringProtocol) {
        guard let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")), dash != text.utf8.startIndex else { return nil }
        var generation: UInt64 = 0
        for byte in text.utf8[..<dash] {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = byte else { return nil }
            let (product, overflow) = generation.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(byte & 15))
            if overflow || carry { return nil }
            generation = sum
        }
        guard let signature = RevisionSignature(text[text.utf8.index(after: dash)...]) else { return nil }
        self.init(generation: generation, signature: signature)
    }

    /// Parses untrusted text of the form `N-signature`.
    ///
    /// - Throws: ``InvalidIdentifier``, which describes the form of a revision id.
    public init(validating text: String) throws(InvalidIdentifier) {
        guard let revision = RevisionID(text) else {
            throw InvalidIdentifier(text: text, problem: "not a revision id; one looks like 2-7051cbe5c8faecd0…")
        }
        self = revision
    }
}

extension RevisionID: Comparable, CustomStringConvertible {
    /// Orders by generation as a number, then by signature (SEMANTICS 63).
    public static func < (left: RevisionID, right: RevisionID) -> Bool {
        left.generation == right.generation
            ? left.signature < right.signature : left.generation < right.generation
    }

    /// The id as CouchDB prints it.
    public var description: String {
        guard signature.isDigest else { return "\(generation)-\(signature)" }
        // Every write of a revision needs this text, so it is built in place.
        return String(unsafeUninitializedCapacity: 52) { buffer in
            var digits = 1
            var bound: UInt64 = 10
            while generation >= bound {
                digits += 1
                bound *= 10
            }
            var rest = generation
            for index in (0..<digits).reversed() {
                buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            buffer[digits] = UInt8(ascii: "-")
            signature.writeDigits(to: UnsafeMutableBufferPointer(rebasing: buffer[(digits + 1)...]))
            return digits + 33
        }
    }
}
