package import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A version of a document in Couchbase Lite 4: the time of a hybrid clock, and the device that made it.
///
///     18eb55accf3a0000@aYzoLxOvQo6yrcFVzgk6ZA         of a device
///     3039e0c8012@Revision+Tree+Encoding              of a revision with an id of a tree: generation and digest
///
/// In a tree, a device's version is a revision whose signature is the time in 16 and the source in 32 hexadecimal
/// digits, so the version keeps its name wherever the tree is replicated:
/// `4-18eb55accf3a0000698ce82f13af428eb2adc155ce093a64`. Of two versions with the same generation the later one
/// wins.
package struct DocumentVersion: Hashable, Sendable {
    /// The source of a version: the device that made it, in 128 bits.
    package struct Source: Hashable, Sendable {
        private let device: DeviceVersion.Device
        fileprivate var high: UInt64 { device.high }
        fileprivate var low: UInt64 { device.low }

        /// The source of all revisions with revision ids; Sync Gateway and Couchbase Lite use the same one.
        package static let tree =
            Source("Revision+Tree+Encoding") ?? Source(DeviceVersion.Device(high: 0, low: 0))

        fileprivate init(_ device: DeviceVersion.Device) { self.device = device }

        fileprivate init?(_ text: some StringProtocol) {
            guard text.utf8.count == 22, let bytes = Base64.decode(Array(text.utf8) + Array("==".utf8)),
                bytes.count == 16
            else { return nil }
            func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
            device = DeviceVersion.Device(high: word(bytes[..<8]), low: word(bytes[8...]))
        }

        fileprivate var text: String {
            let bytes = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
            return String(Base64.encode(bytes).dropLast(2))
        }
    }

    /// Nanoseconds since 1970, made unique by a counter in the lowest bits.
    package let time: UInt64
    package let source: Source

    /// Parses `time@source`; `nil` for other text. Also `nil` for the source `*`, which means a different device in
    /// each database.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...16).contains(parts[0].utf8.count), let time = UInt64(parts[0], radix: 16),
            time > 0,
            time < 1 << 63, let source = Source(parts[1])
        else { return nil }
        (self.time, self.source) = (time, source)
    }

    package init(time: UInt64, source: Source) { (self.time, self.source) = (time, source) }

    /// Whether a version was made more than two minutes after a time in seconds since 1970. Couchbase Lite refuses
    /// such a version, so the server refuses it too.
    package func isFrom(after seconds: Int) -> Bool { time > UInt64(max(seconds, 0) + 120) * 1_000_000_000 }

    /// The version of a tree's revision: the device's version, or one derived from the id.
    package init(_ revision: RevisionID) {
        if let version = DeviceVersion(revision.signature) {
            self.init(time: version.time, source: Source(version.device))
        } else {
            // The first 40 bits of the digest, as in Sync Gateway.
            let digits = revision.signature.description.utf8.prefix(10).map {
                UInt64(String(UnicodeScalar($0)), radix: 16) ?? 0
            }
            let digest = (digits + Array(repeating: 0, count: 10 - digits.count)).reduce(0) { $0 << 4 | $1 }
            self.init(time: revision.generation << 40 | digest, source: .tree)
        }
    }

    /// Whether a revision is a device's version.
    package static func isVersion(_ revision: RevisionID) -> Bool { DeviceVersion(revision.signature) != nil }

    /// The signature of a device's version in a tree; `nil` for an impossible time.
    package var signature: RevisionSignature? {
        guard DeviceVersion.times.contains(time) else { return nil }
        return RevisionSignature(
            [time, source.high, source.low].map { word in
                Hexadecimal.encode(withUnsafeBytes(of: word.bigEndian) { Array($0) })
            }.joined())
    }
}

extension DocumentVersion: CustomStringConvertible {
    /// `time@source`.
    package var description: String { "\(String(time, radix: 16))@\(source.text)" }
}
