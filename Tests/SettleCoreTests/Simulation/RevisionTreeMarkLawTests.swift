import SettleCore
import Testing

/// Marks, and the deletions they identify, against the plain model (SEMANTICS K2).
@Suite struct RevisionTreeMarkLawTests {
    /// The difference from the model as text; `nil` if both are equal.
    private static func difference(_ tree: RevisionTree, _ model: ReferenceTree) -> String? {
        if let difference = tree.difference(from: model) { return difference }
        let own = ReferenceTree(tree)
        if own.marks != model.marks { return "marks \(own.marks), expected \(model.marks)" }
        let expected = model.disputedDeletions.sorted(by: >)
        if tree.disputedDeletions != expected { return "deletions \(tree.disputedDeletions), expected \(expected)" }
        if tree.isContested != model.isContested { return "contested \(tree.isContested)" }
        return nil
    }

    @Test(arguments: Seeds.all)
    func `merging unites marks, and disputes the same deletions as the model`(seed: UInt64) {
        for steps in [10, 25, 40] {
            let world = ReplicaWorld(seed: seed, steps: steps)
            for left in world.replicas {
                #expect(Self.difference(left, ReferenceTree(left)) == nil, "seed \(seed)")
                for right in world.replicas {
                    var model = ReferenceTree(left)
                    model.merge(ReferenceTree(right))
                    #expect(Self.difference(left.merging(right), model) == nil, "seed \(seed): \(world.log)")
                }
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `stemming and purging keep the marks of the revisions that stay`(seed: UInt64) {
        var world = ReplicaWorld(seed: seed)
        for replica in world.replicas {
            for limit in 1...4 {
                var (stemmed, model) = (replica, ReferenceTree(replica))
                stemmed.stem(to: limit)
                model.stem(to: limit)
                // A deletion may depend on a path that is no longer kept, also in the model.
                #expect(Self.difference(stemmed, model) == nil, "limit \(limit), seed \(seed)")
            }
            let doomed = replica.leaves.map(\.revision).filter { _ in world.random.chance(40) }
            var (purged, model) = (replica, ReferenceTree(replica))
            purged.purge(doomed)
            model.purge(doomed)
            #expect(Self.difference(purged, model) == nil, "\(doomed), seed \(seed)")
        }
    }

    @Test(arguments: Seeds.all)
    func `marks only grow, and only a new mark counts as a change`(seed: UInt64) {
        var world = ReplicaWorld(seed: seed)
        for var replica in world.replicas {
            for revision in replica.revisions {
                let before = replica[revision]?.marks ?? []
                let marks = RevisionMarks(rawValue: UInt8.random(in: 0...7, using: &world.random))
                #expect(replica.mark(revision, marks) == !before.isSuperset(of: marks), "seed \(seed)")
                #expect(replica[revision]?.marks == before.union(marks), "seed \(seed)")
                #expect(Self.difference(replica, ReferenceTree(replica)) == nil, "seed \(seed)")
            }
            #expect(replica.mark("99-unknown", .closing) == false)
        }
    }

    @Test func `the worlds of these tests hold every case`() {
        let trees = (1...40).flatMap { ReplicaWorld(seed: $0).replicas }
        #expect(trees.contains { $0.isContested })
        #expect(trees.contains { $0.isConflicted && !$0.disputedDeletions.isEmpty })
        let live = trees.filter { !$0.isDeleted }
        let tombstones = live.map { tree in tree.leaves.filter { $0.isDeleted && !$0.marks.contains(.closing) } }
        #expect(zip(live, tombstones).contains { $1.count > $0.disputedDeletions.count })
        let closed = live.flatMap(\.leaves).filter { $0.isDeleted && $0.marks.isSuperset(of: [.closing, .deletion]) }
        #expect(!closed.isEmpty)
    }
}
