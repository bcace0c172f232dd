package import SettleCore
internal import SettlePlatform

/// A version vector as Couchbase Lite 4 stores it: the versions of a document that it includes, the current one first.
///
///     00 · each: time varint · length of the device u8, 0 for this one, with bit 7 for a current version · device 16 bytes
///
/// The first time is absolute, the others are differences to the one before. The vector does not have generations, so the number
/// of versions stands for the first one's. That is what a server counts unless one device has pushed the document twice.
package struct LiteCoreVersions {
    /// A version: when it was made, and by which device.
    private struct Version {
        let time: UInt64
        let device: [UInt8]

        /// The versions that stand for ids of a tree, from before the document had versions.
        static let treeDevice = Base64.decode("Revision+Tree+Encoding==".utf8) ?? []

        var isOfTree: Bool { device == Self.treeDevice }
        /// The generation of an id of a tree.
        var generation: UInt64 { time >> 40 }
        var signature: RevisionSignature? {
            RevisionSignature(Hexadecimal.encode(time) + Hexadecimal.encode(device))
        }
    }

    /// The signature of the current version: 16 digits of time and 32 of the device.
    package let signature: RevisionSignature
    /// The current version with older ones as its ancestors.
    package let history: RevisionHistory

    /// How many versions a vector may have.
    private static let maximumVersions = 10_000

    /// Reads a vector.
    ///
    /// - Parameters:
    ///   - bytes: The binary form.
    ///   - device: This device, the 16 bytes of the database's public UUID.
    /// - Throws: ``FleeceError`` if the bytes are not a vector.
    package init(_ bytes: [UInt8], device: [UInt8]) throws(FleeceError) {
        let versions = try Self.versions(bytes, device: device)
        // A digest of a tree can't be restored from a version, so the history ends there.
        var newer = versions.prefix { !$0.isOfTree }
        let older = versions.first(where: \.isOfTree)?.generation ?? 0
        if newer.isEmpty { newer = versions.prefix(1) }
        let signatures = newer.compactMap(\.signature)
        let generation = max(
            UInt64(newer.count), versions.first?.isOfTree == true ? older : older + UInt64(newer.count))
        guard let first = signatures.first, signatures.count == newer.count,
            let history = try? RevisionHistory(start: generation, signatures: signatures)
        else { throw FleeceError("the version is not valid") }
        (signature, self.history) = (first, history)
    }

    private static func versions(_ bytes: [UInt8], device: [UInt8]) throws(FleeceError) -> [Version] {
        guard bytes.first == 0, bytes.count > 1 else { throw FleeceError("the version is not valid") }
        var (versions, position, time) = ([Version](), 1, Int64(0))
        while position < bytes.count {
            let number = bytes.withUnsafeBytes { VariableNumber.read($0, &position) }
            guard let number, position < bytes.count, versions.count < maximumVersions else {
                throw FleeceError("the version is cut off")
            }
            let length = Int(bytes[position] & 0x7F)
            position += 1
            guard length == 0 || length == 16, length <= bytes.count - position else {
                throw FleeceError("the version has no valid device")
            }
            let name = length == 0 ? device : Array(bytes[position..<position + length])
            position += length
            // The clock's lowest 15 bits are a counter, which is 0 as a rule.
            let packed = Int64(bitPattern: number)
            let difference = packed & 1 != 0 ? packed >> 1 : packed << 15
            time = versions.isEmpty ? difference : time &- difference
            guard time > 0, name.count == 16 else { throw FleeceError("the version is not valid") }
            versions.append(Version(time: UInt64(time), device: name))
        }
        return versions
    }
}
