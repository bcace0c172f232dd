import SettleCore
import Testing

@Suite struct PackedTreeDamageTests {
    /// Trees of every shape: a single revision, a branch, forks, detached roots, marks, long and short signatures.
    static let samples: [RevisionTree] = {
        var marked = tree("1-a 2-b 3-c 4-d", "1-a 2-b 3-x!", "1-a 2-", "300-q")
        marked.markShared("2-b")
        marked.setBodyToken(1_000, of: "4-d")
        marked.setBodyToken(1, of: "2-")
        var settled = tree("1-a 2-b 3-m", "1-a 2-c 3-t!", "1-a 2-d!")
        settled.mark("3-t", .closing)
        settled.mark("2-d", [.deletion, .incoming])
        settled.mark("2-c", .incoming)
        return [
            RevisionTree(), marked, settled, tree("1-a"), tree("1-é 2-b", "1-c 2-d"),
            tree("1-967a00dff5e02add41819138abb3284d 2-7051cbe5c8faecd085a3fa619e6e6337", "2-g!"),
        ]
    }()

    /// Reads damaged bytes; returns what is wrong with the result, or `nil`.
    private static func problem(reading bytes: [UInt8]) -> String? {
        let tree: RevisionTree
        do { tree = try RevisionTree(packed: bytes) } catch {
            return error.code == .malformed || error.code == .unknownFormat ? nil : "the error \(error)"
        }
        if let broken = tree.brokenInvariant { return broken }
        if tree.packed() != bytes { return "bytes that are not canonical were read" }
        if tree.isEmpty != (tree.winner == nil) { return "no winner" }
        for leaf in tree.leaves where tree.history(of: leaf.revision)?.revision != leaf.revision {
            return "no history of \(leaf.revision)"
        }
        let deletions = tree.disputedDeletions
        if deletions.contains(where: { tree[$0]?.isLeaf != true || tree[$0]?.isDeleted != true }) { return "deletions" }
        var stemmed = tree
        stemmed.stem(to: 1)
        return stemmed.brokenInvariant ?? stemmed.merging(tree).brokenInvariant
    }

    @Test(arguments: samples.indices)
    func `no truncated form is read as a tree`(sample: Int) {
        let bytes = Self.samples[sample].packed()
        for count in bytes.indices {
            #expect(throws: RevisionTreeError.self) { try RevisionTree(packed: Array(bytes[..<count])) }
        }
    }

    @Test(arguments: samples.indices)
    func `no appended byte is ignored`(sample: Int) {
        let bytes = Self.samples[sample].packed()
        for byte in UInt8.min...UInt8.max {
            #expect(throws: RevisionTreeError.self) { try RevisionTree(packed: bytes + [byte]) }
        }
    }

    @Test(arguments: samples.indices)
    func `a wrong byte gives an error or a valid tree`(sample: Int) {
        let bytes = Self.samples[sample].packed()
        for position in bytes.indices {
            var damaged = bytes
            for byte in UInt8.min...UInt8.max where byte != bytes[position] {
                damaged[position] = byte
                guard let problem = Self.problem(reading: damaged) else { continue }
                Issue.record("\(problem) with byte \(position) set to \(byte)")
                return
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `several wrong, missing and added bytes give an error or a valid tree`(seed: UInt64) {
        var world = ReplicaWorld(seed: seed, steps: 20)
        for round in 0..<100 {
            var bytes = world.replicas[round % world.replicas.count].packed()
            for _ in 0..<Int.random(in: 1...4, using: &world.random) {
                let position = Int.random(in: bytes.indices, using: &world.random)
                switch Int.random(in: 0..<4, using: &world.random) {
                case 0 where bytes.count > 2: bytes.remove(at: position)
                case 1: bytes.insert(UInt8.random(in: 0...255, using: &world.random), at: position)
                case 2: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &world.random)
                default: bytes[position] = UInt8.random(in: 0...255, using: &world.random)
                }
            }
            guard let problem = Self.problem(reading: bytes) else { continue }
            Issue.record("\(problem) with the bytes \(bytes) of seed \(seed)")
            return
        }
    }
}
