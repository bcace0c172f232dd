import SettleCore
import Testing

@Suite struct RevisionTreeStemLawTests {
    // SEMANTICS 60, 202
    @Test(arguments: Seeds.all)
    func `stemming keeps exactly what lies within the limit of a leaf`(seed: UInt64) {
        for replica in ReplicaWorld(seed: seed).replicas {
            for limit in 1...6 {
                var (stemmed, model) = (replica, ReferenceTree(replica))
                let dropped = stemmed.stem(to: limit)
                model.stem(to: limit)
                #expect(stemmed.difference(from: model) == nil, "limit \(limit), seed \(seed)")
                #expect(stemmed.leaves.map(\.revision) == replica.leaves.map(\.revision), "seed \(seed)")
                let all = (dropped.map(\.revision) + stemmed.revisions).sorted()
                #expect(all == replica.revisions, "limit \(limit), seed \(seed)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `stemming again changes nothing, and a lower limit includes a higher one`(seed: UInt64) {
        for replica in ReplicaWorld(seed: seed).replicas {
            for limit in 1...5 {
                var once = replica
                once.stem(to: limit)
                var twice = once
                #expect(twice.stem(to: limit) == [], "limit \(limit), seed \(seed)")
                #expect(twice == once, "limit \(limit), seed \(seed)")
                var further = replica
                further.stem(to: limit + 1)
                further.stem(to: limit)
                #expect(further == once, "limit \(limit), seed \(seed)")
            }
        }
    }

    /// A leaf here that the other side has edited and then stemmed is a leaf of the union: neither side knows better.
    @Test(arguments: Seeds.all)
    func `merging with a stemmed tree gives the leaves of merging with the whole one`(seed: UInt64) {
        let world = ReplicaWorld(seed: seed)
        let here = world.replicas[0]
        for there in world.replicas {
            for limit in 1...4 {
                var stemmed = there
                let dropped = Set(stemmed.stem(to: limit).map(\.revision))
                let whole = Set(here.merging(there).leaves.map(\.revision))
                let forgotten = here.leaves.map(\.revision).filter { dropped.contains($0) }
                let union = here.merging(stemmed)
                #expect(Set(union.leaves.map(\.revision)) == whole.union(forgotten), "limit \(limit), seed \(seed)")
                #expect(union.brokenInvariant == nil, "limit \(limit), seed \(seed)")
                if forgotten.isEmpty {
                    #expect(union.winner?.revision == here.merging(there).winner?.revision, "seed \(seed)")
                }
            }
        }
    }

    // SEMANTICS 202
    @Test(arguments: Seeds.all)
    func `merging the whole tree into a stemmed one restores the whole`(seed: UInt64) {
        for replica in ReplicaWorld(seed: seed).replicas {
            for limit in 1...4 {
                var stemmed = replica
                stemmed.stem(to: limit)
                #expect(stemmed.merging(replica) == replica, "limit \(limit), seed \(seed)")
                #expect(replica.merging(stemmed) == replica, "limit \(limit), seed \(seed)")
            }
        }
    }
}
