import SettleCore
import SettleTesting
import Testing

/// Peers that lie about parents: revision ids don't prevent that, so a tree must stay valid and peers must agree.
@Suite struct RevisionTreeBrokenHistoryTests {
    /// Paths through so few revisions that they often contradict each other.
    private static func paths(_ count: Int, using random: inout SeededRandom) -> [RevisionHistory] {
        (0..<count).map { _ in
            let start = Int.random(in: 1...5, using: &random)
            let length = Int.random(in: 1...start, using: &random)
            return path(
                (0..<length).map { step in
                    RevisionID(stringLiteral: "\(start - step)-\(["a", "b", "c"].randomElement(using: &random) ?? "a")")
                })
        }
    }

    private static func tree(of paths: some Sequence<RevisionHistory>) -> RevisionTree {
        paths.reduce(into: RevisionTree()) { $0.insert($1, isDeleted: false) }
    }

    // SEMANTICS 62
    @Test(arguments: Seeds.all)
    func `contradicting paths give one tree in every order`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<10 {
            let paths = Self.paths(6, using: &random)
            let expected = Self.tree(of: paths)
            #expect(expected.brokenInvariant == nil, "seed \(seed)")
            for _ in 0..<6 {
                let shuffled = paths.shuffled(using: &random)
                #expect(Self.tree(of: shuffled) == expected, "\(shuffled.map(\.revisions)), seed \(seed)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `merging contradicting trees is commutative, associative and idempotent`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<10 {
            let first = Self.tree(of: Self.paths(3, using: &random))
            let second = Self.tree(of: Self.paths(3, using: &random))
            let third = Self.tree(of: Self.paths(3, using: &random))
            let union = first.merging(second)
            #expect(union == second.merging(first), "seed \(seed)")
            #expect(union.merging(third) == first.merging(second.merging(third)), "seed \(seed)")
            #expect(union.merging(second) == union, "seed \(seed)")
            #expect(union.merging(third).brokenInvariant == nil, "seed \(seed)")
        }
    }

    @Test(arguments: Seeds.all)
    func `a tree of contradicting paths stays valid through every operation`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var tree = RevisionTree()
        var other = RevisionTree()
        for step in 0..<60 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let path = Self.paths(1, using: &random)[0]
                let before = tree
                let insertion = tree.insert(path, isDeleted: random.chance(30))
                #expect((insertion == .known) == (tree == before), "step \(step), seed \(seed)")
            case 5: tree.stem(to: Int.random(in: 1...4, using: &random))
            case 6: tree.purge(tree.leaves.map(\.revision).filter { _ in random.chance(30) })
            case 7: tree.merge(other)
            case 8: other = tree
            default: tree = try RevisionTree(packed: tree.packed())
            }
            #expect(tree.brokenInvariant == nil, "step \(step), seed \(seed)")
            #expect((tree.winner == nil) == tree.isEmpty, "step \(step), seed \(seed)")
        }
    }
}
