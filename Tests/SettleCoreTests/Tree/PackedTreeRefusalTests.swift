import SettleCore
import Testing

@Suite struct PackedTreeRefusalTests {
    @Test(arguments: [0, 2, 3, 127, 128, 255] as [UInt8])
    func `an unknown format version is distinguished from damage`(version: UInt8) {
        for bytes in [[version], [version, 0], [version, 1, 0x10, 1, 1, 97]] {
            #expect {
                try RevisionTree(packed: bytes)
            } throws: { error in
                (error as? RevisionTreeError)?.code == .unknownFormat
            }
        }
    }

    /// Each differs in one place from `[1, 2, 0x12, 1, 1, a, 0x70, 1, 1, b]`, the tree 1-a ── 2-b.
    @Test(
        arguments: [
            ("no bytes", []),
            ("no node count", [1]),
            ("fewer nodes than counted", [1, 3, 0x12, 1, 1, 97, 0x70, 1, 1, 98]),
            ("more nodes than counted", [1, 1, 0x12, 1, 1, 97, 0x70, 1, 1, 98]),
            ("a byte behind the end", [1, 2, 0x12, 1, 1, 97, 0x70, 1, 1, 98, 0]),
            ("a byte behind an empty tree", [1, 0, 0]),
            ("a node count past all bytes", [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
            ("a node count past 64 bits", [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02]),
            ("a number with a needless byte", [1, 0x82, 0, 0x12, 1, 1, 97, 0x70, 1, 1, 98]),
            ("no marks where there should be some", [1, 2, 0x92, 1, 1, 97, 0x70, 1, 1, 98]),
            ("marks of nothing", [1, 2, 0x92, 0, 1, 1, 97, 0x70, 1, 1, 98]),
            ("an unknown mark", [1, 2, 0x92, 8, 1, 1, 97, 0x70, 1, 1, 98]),
            ("known and unknown marks", [1, 2, 0x92, 9, 1, 1, 97, 0x70, 1, 1, 98]),
            ("the highest mark", [1, 2, 0x92, 128, 1, 1, 97, 0x70, 1, 1, 98]),
            ("all marks", [1, 2, 0x92, 255, 1, 1, 97, 0x70, 1, 1, 98]),
            ("marks cut off", [1, 1, 0x90]),
            ("a leaf with a child", [1, 2, 0x10, 1, 1, 97, 0x70, 1, 1, 98]),
            ("no leaf", [1, 2, 0x12, 1, 1, 97, 0x72, 1, 1, 98]),
            ("generation 0", [1, 2, 0x12, 0, 1, 97, 0x70, 1, 1, 98]),
            ("a generation skipped", [1, 2, 0x12, 1, 1, 97, 0x70, 2, 1, 98]),
            ("a parent of the same generation", [1, 2, 0x12, 1, 1, 97, 0x70, 0, 1, 98]),
            ("a revision twice", [1, 2, 0x12, 1, 1, 97, 0x10, 0, 1, 97]),
            ("revisions out of order", [1, 2, 0x10, 1, 1, 98, 0x10, 0, 1, 97]),
            ("the first node on the node before", [1, 2, 0x72, 1, 1, 97, 0x70, 1, 1, 98]),
            ("the first node on itself", [1, 2, 0x32, 1, 1, 97, 0, 0x70, 1, 1, 98]),
            ("the node before named by its index", [1, 2, 0x12, 1, 1, 97, 0x30, 1, 1, 98, 0]),
            ("itself as the parent", [1, 2, 0x12, 1, 1, 97, 0x30, 1, 1, 98, 1]),
            ("a parent behind the end", [1, 2, 0x12, 1, 1, 97, 0x30, 1, 1, 98, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
            ("the node before but no parent", [1, 2, 0x12, 1, 1, 97, 0x50, 1, 1, 98]),
            ("a body token of nothing", [1, 2, 0x12, 1, 1, 97, 0x78, 1, 1, 98, 0]),
            ("a text longer than the bytes", [1, 2, 0x12, 1, 1, 97, 0x70, 1, 2, 98]),
            ("a text of endless length", [1, 1, 0x10, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]),
            ("a text that is not UTF-8", [1, 2, 0x12, 1, 1, 97, 0x70, 1, 1, 0xFF]),
            ("a digest cut short", [1, 1, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]),
            ("a text of sixteen bytes", [1, 1, 0x10, 1, 16] + [UInt8](repeating: 97, count: 16)),
            ("a text of 32 digits", [1, 1, 0x10, 1, 32] + [UInt8](repeating: 97, count: 32)),
            ("a text of 32 bytes", [1, 1, 0x10, 1, 32] + [UInt8](repeating: 122, count: 32)),
            ("a generation past 63 bits", [1, 1, 0x10] + [UInt8](repeating: 0x80, count: 9) + [1, 1, 97]),
            (
                "generations that overflow together",
                [1, 2, 0x10] + [UInt8](repeating: 0xFF, count: 8) + [0x7F, 1, 97, 0x10]
                    + [UInt8](repeating: 0xFF, count: 9) + [1, 1, 98]
            ),
        ] as [(String, [UInt8])])
    func `malformed forms are refused`(damage: String, bytes: [UInt8]) {
        #expect {
            try RevisionTree(packed: bytes)
        } throws: { error in
            (error as? RevisionTreeError)?.code == .malformed
        }
    }

    @Test func `the undamaged form of these tests is accepted`() throws {
        #expect(try RevisionTree(packed: [1, 2, 0x92, 7, 1, 1, 97, 0x70, 1, 1, 98])["1-a"]?.marks.rawValue == 7)
        #expect(try RevisionTree(packed: [1, 2, 0x12, 1, 1, 97, 0x70, 1, 1, 98]) == tree("1-a 2-b"))
    }
}
