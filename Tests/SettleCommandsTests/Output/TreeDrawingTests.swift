import Settle
import SettleCore
import Testing

@testable import SettleCommands

struct TreeDrawingTests {
    /// A tree of paths, newest first, such as `3c 2b 1a`; `!` marks a tombstone and `*` a body that is kept.
    private func tree(_ paths: String...) throws -> RevisionTree {
        var tree = RevisionTree()
        for path in paths {
            let names = path.split(separator: " ").map(String.init)
            let newest = names[0].filter { !"!*".contains($0) }
            let signatures = names.map { $0.filter { !"!*".contains($0) }.drop(while: \.isNumber) }
            let history = try RevisionHistory(
                start: #require(UInt64(newest.prefix(while: \.isNumber))),
                signatures: signatures.map { try #require(RevisionSignature($0)) })
            tree.insert(history, isDeleted: names[0].hasPrefix("!"))
            for (name, revision) in zip(names, history.revisions) where name.contains("*") {
                tree.setBodyToken(2, of: revision)
            }
        }
        return tree
    }

    private func draw(_ tree: RevisionTree, isFull: Bool = false) -> String {
        TreeDrawing(tree, isFull: isFull).lines.joined(separator: "\n")
    }

    @Test func `one branch is a column`() throws {
        #expect(
            draw(try tree("*3c 2b 1a")) == """
                ○ 1-a
                ○ 2-b
                ● 3-c  winner
                """)
    }

    @Test func `branches part below their common ancestor and the winner is first`() throws {
        #expect(
            draw(try tree("*3c *2b 1a", "*3x 2b 1a", "!4t *3d 2b 1a")) == """
                ○ 1-a
                ● 2-b  base
                ├─● 3-x  winner
                ├─● 3-d
                │ ✕ 4-t  deleted
                └─● 3-c  conflict
                """)
    }

    @Test func `the sides of a conflict and the kinds of tombstones are labelled`() throws {
        var tree = try tree("*3c *2b *1a", "*3x 2b 1a", "!3t *2b 1a", "!3u *2v 1a")
        let closing = try #require(RevisionID("3-u"))
        tree.mark(closing, [.closing, .incoming])
        tree.mark(try #require(RevisionID("3-c")), .incoming)
        let closings = [closing: try #require(RevisionID("3-0123456789abcdef0123456789abcdef"))]
        #expect(
            TreeDrawing(tree, closings: closings).lines.joined(separator: "\n") == """
                ● 1-a
                ├─● 2-b  base
                │ ├─● 3-x  winner, local
                │ ├─✕ 3-t  deleted by a user, local
                │ └─● 3-c  conflict, remote
                └─● 2-v
                  ✕ 3-u  closed for 3-01234567…
                """)
        tree.mark(try #require(RevisionID("3-t")), .deletion)
        try tree.insert(#require(RevisionID("4-x")), parent: RevisionID("3-x"), isDeleted: true)
        try tree.insert(#require(RevisionID("4-c")), parent: RevisionID("3-c"), isDeleted: true)
        #expect(TreeDrawing(tree).lines.contains { $0.hasSuffix("3-t  deleted by a user") })
        #expect(!TreeDrawing(tree).lines.contains { $0.contains("base") || $0.contains("local") })
    }

    @Test func `branches of branches keep their lines`() throws {
        #expect(
            draw(try tree("*4e 3c 2b 1a", "*4d 3c 2b 1a", "*3f 2b 1a", "*2g 1a")) == """
                ○ 1-a
                ├─○ 2-b
                │ ├─○ 3-c
                │ │ ├─● 4-e  winner
                │ │ └─● 4-d  conflict
                │ └─● 3-f  conflict
                └─● 2-g  conflict
                """)
    }

    @Test func `stemmed ancestors are noted at each root`() throws {
        #expect(
            draw(try tree("*5e 4d", "!2x")) == """
                ┊ 3 older revisions stemmed
                ○ 4-d
                ● 5-e  winner
                ┊ 1 older revision stemmed
                ✕ 2-x  deleted
                """)
    }

    @Test func `a document whose leaves are all deleted still has a winner`() throws {
        #expect(draw(try tree("!2b 1a")) == "○ 1-a\n✕ 2-b  winner, deleted")
    }

    @Test func `long chains are folded unless all revisions are requested`() throws {
        let path = (1...20).reversed().map { "\($0 == 20 || $0 == 9 ? "*" : "")\($0)r" }.joined(separator: " ")
        let tree = try tree(path)
        #expect(
            draw(tree) == """
                ○ 1-r
                ○ 2-r
                ┊ … 16 more, 1 with bodies …
                ○ 19-r
                ● 20-r  winner
                """)
        #expect(draw(tree, isFull: true).split(separator: "\n").count == 20)
    }

    @Test func `thousands of nested branches are drawn`() throws {
        var tree = RevisionTree()
        var parent: RevisionID?
        for generation in 1...3000 {
            let revision = try #require(RevisionID("\(generation)-a"))
            try tree.insert(revision, parent: parent, isDeleted: false)
            if generation > 1 {
                try tree.insert(#require(RevisionID("\(generation)-b")), parent: parent, isDeleted: false)
            }
            parent = revision
        }
        #expect(TreeDrawing(tree).lines.count == 5999)
    }
}
