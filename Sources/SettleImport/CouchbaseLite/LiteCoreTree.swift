package import SettleCore
internal import SettlePlatform

/// The tree of revisions of one document, as Couchbase Lite 2 to 4 stores it.
///
///     each revision   size u32 · parent u16 · flags u8 · length of id u8 · id · sequence varint · body
///     end             0 u32
///     known at peers  pairs of u16, peer and index of a revision; 0, 0 ends them; then revisions that a peer has refused
///
/// Numbers have the highest byte first.
package struct LiteCoreTree {
    /// A revision.
    package struct Record {
        package let revision: RevisionID
        /// The index of the parent; `nil` if the tree has none.
        package let parent: Int?
        package let isDeleted: Bool
        package let sequence: UInt64
        /// The body in Fleece; `nil` if the tree does not have it.
        package let body: [UInt8]?
    }

    /// The revisions, the current one first.
    package let records: [Record]
    /// The indices of the revisions that peers have, by the peers' numbers.
    package let remotes: [UInt16: Int]

    /// The size of a record's fields before the id.
    private static let header = 8
    private static let noParent = 0xFFFF
    private enum Flag {
        static let deleted: UInt8 = 1
        static let hasBody: UInt8 = 0x80
    }

    /// Whether bytes are a tree, and not a body: sizes that lead to the end.
    package static func isTree(_ bytes: [UInt8]) -> Bool {
        var position = 0
        while let size = number(bytes, position, count: 4) {
            if size == 0 { return position > 0 }
            guard position + header <= bytes.count, size > header + Int(bytes[position + 7]),
                size <= bytes.count - position
            else { return false }
            position += size
        }
        return false
    }

    /// Reads a tree.
    ///
    /// - Throws: ``FleeceError`` if the bytes are not a tree.
    package init(_ bytes: [UInt8]) throws(FleeceError) {
        guard Self.isTree(bytes) else { throw FleeceError("the tree is cut off") }
        var (records, position) = ([Record](), 0)
        while let size = Self.number(bytes, position, count: 4), size > 0 {
            records.append(try Self.record(bytes, position..<position + size))
            position += size
        }
        position += 4
        var remotes: [UInt16: Int] = [:]
        while let peer = Self.number(bytes, position, count: 2), let index = Self.number(bytes, position + 2, count: 2),
            peer != 0
        {
            guard records.indices.contains(index) else {
                throw FleeceError("a peer has a revision that is not in the tree")
            }
            remotes[UInt16(peer)] = index
            position += 4
        }
        (self.records, self.remotes) = (records, remotes)
    }

    private static func record(_ bytes: [UInt8], _ range: Range<Int>) throws(FleeceError) -> Record {
        let start = range.lowerBound
        let (flags, idLength) = (bytes[start + 6], Int(bytes[start + 7]))
        let idEnd = start + header + idLength
        guard let revision = revision(bytes[start + header..<idEnd]) else {
            throw FleeceError("a revision has no valid id")
        }
        var position = idEnd
        let sequence = bytes.withUnsafeBytes { all in
            VariableNumber.read(UnsafeRawBufferPointer(rebasing: all[..<range.upperBound]), &position)
        }
        guard let sequence else { throw FleeceError("a revision has no valid sequence") }
        let parent = Int(bytes[start + 4]) << 8 | Int(bytes[start + 5])
        return Record(
            revision: revision, parent: parent == noParent ? nil : parent, isDeleted: flags & Flag.deleted != 0,
            sequence: sequence, body: flags & Flag.hasBody != 0 ? Array(bytes[position..<range.upperBound]) : nil)
    }

    /// The id in its binary form: the generation, and the digest.
    package static func revision(_ bytes: ArraySlice<UInt8>) -> RevisionID? {
        var position = 0
        let generation = Array(bytes).withUnsafeBytes { VariableNumber.read($0, &position) }
        guard let generation, position < bytes.count else { return nil }
        return RevisionSignature(Hexadecimal.encode(bytes.dropFirst(position)))
            .flatMap { RevisionID(generation: generation, signature: $0) }
    }

    private static func number(_ bytes: [UInt8], _ position: Int, count: Int) -> Int? {
        guard position + count <= bytes.count else { return nil }
        return bytes[position..<position + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
