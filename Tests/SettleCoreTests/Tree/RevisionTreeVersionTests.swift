import SettleTesting
import Testing

@testable import SettleCore

/// The versions of devices that stay when a tree is stemmed.
struct RevisionTreeVersionTests {
    private static let times = 0x18eb_55ac_cf3a_0000

    private func version(_ generation: Int, _ time: Int, of device: Int) throws -> RevisionID {
        func digits(_ number: Int) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return try RevisionID(
            validating: "\(generation)-\(digits(Self.times + time))\(digits(device))\(digits(device + 1))")
    }

    @Test func `a signature of 48 digits with the time of a clock is a version`() throws {
        let found = try #require(DeviceVersion(version(4, 7, of: 2).signature))
        #expect(found.time == UInt64(Self.times + 7) && found.device == DeviceVersion.Device(high: 2, low: 3))
        for text in [
            "ab", String(repeating: "a", count: 32), String(repeating: "f", count: 48),
            String(repeating: "g", count: 48),
        ] {
            #expect(DeviceVersion(try #require(RevisionSignature(text))) == nil)
        }
    }

    @Test func `a tree without versions is stemmed to the limit`() throws {
        var tree = RevisionTree()
        var parent: RevisionID?
        for generation in 1...10 {
            let revision = try RevisionID(validating: "\(generation)-ab")
            try tree.insert(revision, parent: parent, isDeleted: false)
            parent = revision
        }
        #expect(tree.stem(to: 3).count == 7 && tree.count == 3 && tree.forgottenVersions.isEmpty)
    }

    @Test(arguments: 1...100)
    func `of each device the latest version stays, and of the ids the latest one, without a body`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let limit = Int.random(in: 1...4, using: &random)
        var tree = RevisionTree()
        var (path, removed): ([RevisionID], Set<UInt64>) = ([], [])
        for generation in 1...40 {
            let device = Int.random(in: 0..<4, using: &random)
            let revision =
                device == 0
                ? try RevisionID(validating: "\(generation)-\(Int.random(in: 0..<1000, using: &random))")
                : try version(generation, generation, of: device)
            try tree.insert(revision, parent: path.last, isDeleted: false)
            tree.setBodyToken(UInt64(generation), of: revision)
            path.append(revision)
            // A version that was kept, and is no longer the latest, has lost its body before.
            for node in tree.stem(to: limit) where node.bodyToken != 0 {
                #expect(removed.insert(node.bodyToken).inserted, "seed \(seed)")
            }
            // The tree is what its packed form says.
            #expect(try RevisionTree(packed: tree.packed()) == tree, "seed \(seed)")
            let kept = try #require(tree.history(of: revision)).revisions
            #expect(kept.count == min(limit, generation), "seed \(seed)")
            let forgotten = path.dropLast(kept.count)
            let authors = Dictionary(grouping: forgotten) { DeviceVersion($0.signature)?.device }
            let hasVersions = tree.revisions.contains { DeviceVersion($0.signature) != nil }
            #expect(
                Set(tree.forgottenVersions) == (hasVersions ? Set(authors.compactMap(\.value.last)) : []),
                "seed \(seed), generation \(generation)")
            #expect(tree.forgottenVersions.allSatisfy { tree[$0]?.bodyToken == 0 }, "seed \(seed)")
            #expect(tree.leaves.map(\.revision) == [revision] && tree.count <= limit + 4, "seed \(seed)")
        }
        #expect(removed == Set(1...UInt64(40 - limit)), "seed \(seed)")
    }

    @Test func `an older path joins a version that was kept, and a purge of the last leaf removes all`() throws {
        var tree = RevisionTree()
        let first = try version(1, 1, of: 1)
        let path = try [first] + (2...6).map { try RevisionID(validating: "\($0)-ab") }
        for (parent, revision) in zip([nil] + path.map(Optional.some), path) {
            try tree.insert(revision, parent: parent, isDeleted: false)
        }
        tree.stem(to: 2)
        #expect(tree.forgottenVersions == [first, path[3]])
        var joined = tree
        joined.insert(try #require(RevisionHistory(path.reversed())), isDeleted: false)
        #expect(joined.history(of: path[5])?.revisions.count == 6 && joined.forgottenVersions.isEmpty)
        tree.purge([path[5]])
        #expect(tree.isEmpty)
    }
}
