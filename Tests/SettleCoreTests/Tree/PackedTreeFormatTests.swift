import SettleCore
import Testing

@Suite struct PackedTreeFormatTests {
    /// A tree with every kind of node, in the bytes of version 1, which must stay readable permanently.
    private static let golden: [UInt8] =
        [1, 5]
        // 1-00112233445566778899aabbccddeeff: superseded, shared
        + [0x06, 1, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF]
        // 2-b: a deleted leaf with a text signature, on the node before
        + [0x71, 1, 1, 0x62]
        // 2-c: superseded, on node 0
        + [0x32, 0, 1, 0x63, 0]
        // 3-x: a leaf with body token 300, on the node before
        + [0x78, 1, 1, 0x78, 0xAC, 0x02]
        // 300-: a root with an empty signature
        + [0x10, 0xA9, 0x02, 0]

    private static var pictured: RevisionTree {
        let root = "1-00112233445566778899aabbccddeeff"
        var pictured = tree("\(root) 2-b!", "\(root) 2-c 3-x", "300-")
        pictured.markShared(RevisionID(stringLiteral: root))
        pictured.setBodyToken(300, of: "3-x")
        return pictured
    }

    @Test func `version 1 is written as it was released`() {
        #expect(Self.pictured.packed() == Self.golden)
        #expect(RevisionTree.packedVersion == 1)
    }

    @Test func `version 1 is read as it was released`() throws {
        let read = try RevisionTree(packed: Self.golden)
        #expect(read == Self.pictured)
        #expect(read.leafNotation == ["300-", "3-x", "2-b!"])
        let root = "1-00112233445566778899aabbccddeeff"
        #expect(read.edges == [root, "2-b<\(root)", "2-c<\(root)", "3-x<2-c", "300-"])
        #expect(read["3-x"]?.bodyToken == 300)
        #expect(read.allNodes.map(\.isShared) == [true, false, false, false, false])
        #expect(read.brokenInvariant == nil)
    }

    /// A settled conflict and a deletion, in the bytes of version 1.
    private static let goldenMarks: [UInt8] =
        [1, 5]
        // 1-a: superseded
        + [0x12, 1, 1, 0x61]
        // 2-b: a leaf on the node before
        + [0x70, 1, 1, 0x62]
        // 2-c: a user's deletion that came from a peer, on node 0
        + [0xB1, 6, 0, 1, 0x63, 0]
        // 2-x: superseded, came from a peer, on node 0
        + [0xB2, 4, 0, 1, 0x78, 0]
        // 3-t: closes that branch, on the node before, with body token 2
        + [0xF9, 1, 1, 1, 0x74, 2]

    @Test func `marks are written and read as they were released`() throws {
        var marked = tree("1-a 2-b", "1-a 2-c!", "1-a 2-x 3-t!")
        marked.mark("2-c", [.deletion, .incoming])
        marked.mark("2-x", .incoming)
        marked.mark("3-t", .closing)
        marked.setBodyToken(2, of: "3-t")
        #expect(marked.packed() == Self.goldenMarks)
        let read = try RevisionTree(packed: Self.goldenMarks)
        #expect(read == marked)
        #expect(read.allNodes.map(\.marks.rawValue) == [0, 0, 6, 4, 1])
        #expect(read.disputedDeletions == ["2-c"])
    }

    @Test(arguments: 1...7 as ClosedRange<UInt8>)
    func `every combination of marks is read back, with all other fields of a node`(raw: UInt8) throws {
        for revision in ["1-a", "2-b", "2-c", "3-00112233445566778899aabbccddeeff"] as [RevisionID] {
            var marked = tree("1-a 2-b", "1-a 2-c 3-00112233445566778899aabbccddeeff!")
            marked.markShared(revision)
            marked.setBodyToken(300, of: revision)
            let plain = marked.packed()
            marked.mark(revision, RevisionMarks(rawValue: raw))
            #expect(marked.packed().count == plain.count + 1)
            let read = try RevisionTree(packed: marked.packed())
            #expect(read == marked)
            #expect(read[revision]?.marks.rawValue == raw)
        }
    }

    @Test func `an empty tree takes two bytes, and one digest twenty`() throws {
        #expect(RevisionTree().packed() == [1, 0])
        #expect(try RevisionTree(packed: [1, 0]) == RevisionTree())
        let single = tree("1-00112233445566778899aabbccddeeff")
        #expect(single.packed().count == 20)
    }

    @Test func `a form at an odd address is read alike`() throws {
        let shifted = [0xEE] + Self.golden
        let read = try shifted.withUnsafeBytes { bytes in
            try RevisionTree(packed: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        }
        #expect(read == Self.pictured)
    }

    @Test(arguments: [1, 127, 128, 16_383, 16_384, UInt64(Int64.max), .max])
    func `numbers of every length are read back`(token: UInt64) throws {
        var marked = tree("1-a")
        marked.setBodyToken(token, of: "1-a")
        #expect(try RevisionTree(packed: marked.packed()) == marked)
        let generation = min(token, RevisionID.maximumGeneration)
        let high = tree("\(generation)-a")
        #expect(try RevisionTree(packed: high.packed()) == high)
    }

    @Test(arguments: [
        "", "a", "0123456789abcde", "0123456789abcdefg", "é", "\u{0}", String(repeating: "z", count: 300),
    ])
    func `text signatures of every length are read back`(text: String) throws {
        let single = tree("4-\(text)")
        let read = try RevisionTree(packed: single.packed())
        #expect(read == single)
        #expect(read.winner?.revision.description == "4-\(text)")
    }

    @Test func `a parent far before its child is read back`() throws {
        let wide = tree((0..<300).map { "1-\(1000 + $0)" } + ["1-1003 2-a", "1-1299 2-b"])
        let read = try RevisionTree(packed: wide.packed())
        #expect(read == wide)
        #expect(read.parent(of: "2-a") == "1-1003")
    }

    @Test func `equal trees have equal bytes, in whatever order they grew`() {
        let forth = tree("1-a 2-b 3-c", "1-a 2-b 3-x!", "7-q")
        let back = tree("7-q", "1-a 2-b 3-x!", "1-a 2-b 3-c")
        #expect(forth.packed() == back.packed())
    }
}
