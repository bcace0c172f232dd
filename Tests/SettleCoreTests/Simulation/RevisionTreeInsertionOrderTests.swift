import SettleCore
import Testing

@Suite struct RevisionTreeInsertionOrderTests {
    // SEMANTICS 62
    @Test(arguments: Seeds.all)
    func `the paths of the leaves give the same tree in every order`(seed: UInt64) {
        var world = ReplicaWorld(seed: seed)
        let source = world.replicas[0].merging(world.replicas[1])
        let model = ReferenceTree(source)
        for _ in 0..<8 {
            var copy = RevisionTree()
            for leaf in source.leaves.shuffled(using: &world.random) {
                guard let history = source.history(of: leaf.revision) else { continue }
                copy.insert(history, isDeleted: leaf.isDeleted)
            }
            #expect(copy.difference(from: model) == nil, "seed \(seed): \(world.log)")
        }
    }

    // SEMANTICS 62, 199, 202
    @Test(arguments: Seeds.all)
    func `pieces of paths give the same tree as in the plain model, in every order`(seed: UInt64) {
        var world = ReplicaWorld(seed: seed)
        let source = world.replicas[0].merging(world.replicas[1]).merging(world.replicas[2])
        guard !source.isEmpty else { return }
        let pieces = (0..<12).compactMap { _ -> (history: RevisionHistory, isDeleted: Bool)? in
            guard let node = source.allNodes.randomElement(using: &world.random),
                let history = source.history(of: node.revision, limit: Int.random(in: 1...6, using: &world.random))
            else { return nil }
            return (history, node.isDeleted)
        }
        var expected = ReferenceTree()
        for piece in pieces { expected.insert(piece.history, isDeleted: piece.isDeleted) }
        for _ in 0..<6 {
            var copy = RevisionTree()
            for piece in pieces.shuffled(using: &world.random) {
                let before = copy
                let insertion = copy.insert(piece.history, isDeleted: piece.isDeleted)
                #expect(copy.brokenInvariant == nil, "seed \(seed)")
                #expect((insertion == .known) == (copy == before), "\(insertion) of \(piece), seed \(seed)")
                #expect(copy.contains(piece.history.revision), "seed \(seed)")
            }
            #expect(copy.difference(from: expected) == nil, "seed \(seed): \(pieces)")
        }
    }

    // SEMANTICS 60, 62
    @Test(arguments: Seeds.all)
    func `every state of every replica agrees with the plain model`(seed: UInt64) {
        for steps in stride(from: 1, through: 40, by: 3) {
            for replica in ReplicaWorld(seed: seed, steps: steps).replicas {
                let difference = replica.difference(from: ReferenceTree(replica))
                #expect(difference == nil, "seed \(seed) after \(steps) steps")
            }
        }
    }

    // SEMANTICS 200
    @Test(arguments: Seeds.all)
    func `inserting known revisions changes nothing`(seed: UInt64) {
        for replica in ReplicaWorld(seed: seed).replicas {
            var copy = replica
            for node in replica.allNodes {
                guard let history = replica.history(of: node.revision) else { continue }
                #expect(copy.insert(history, isDeleted: !node.isDeleted) == .known, "seed \(seed)")
            }
            #expect(copy == replica, "seed \(seed)")
        }
    }
}
