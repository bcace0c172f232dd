import SettleCore
import SettleMobile
import SettleTesting
import Testing

/// Version vectors of Couchbase Lite 4, and what a tree is as one.
struct VersionVectorTests {
    private let anna = "18eb55accf3a0000@aYzoLxOvQo6yrcFVzgk6ZA"
    private let bert = "18eb55accf3a0001@q5ubPUxSQGGhgYKmznKaHQ"

    private func tree(_ paths: [(path: [String], isDeleted: Bool)]) throws -> RevisionTree {
        var tree = RevisionTree()
        for (path, isDeleted) in paths {
            let revisions = try path.map { try RevisionID(validating: $0) }
            let history = try RevisionHistory(start: revisions[0].generation, signatures: revisions.map(\.signature))
            _ = tree.insert(history, isDeleted: isDeleted)
        }
        return tree
    }

    /// The name that a version has in a tree.
    private func node(_ generation: UInt64, _ version: String) throws -> String {
        let signature = try #require(DocumentVersion(version)?.signature)
        return try #require(RevisionID(generation: generation, signature: signature)).description
    }

    @Test func `a version is a revision of a tree and comes back as itself, in the order of times`() throws {
        let (first, second) = (try node(4, anna), try node(4, bert))
        #expect(first == "4-18eb55accf3a0000698ce82f13af428eb2adc155ce093a64")
        let revisions = try [first, second].map { try RevisionID(validating: $0) }
        #expect(revisions.map { DocumentVersion($0).description } == [anna, bert] && revisions[0] < revisions[1])
        #expect(revisions.allSatisfy(DocumentVersion.isVersion))
    }

    @Test(arguments: [
        ("1-abcd", "1abcd000000@Revision+Tree+Encoding"),
        ("5-9e0c8012361f0a3b7c2d4e5f60718293", "59e0c801236@Revision+Tree+Encoding"),
    ])
    func `a revision with an id of a tree is the version that Sync Gateway makes of it`(
        id: String, version: String
    ) throws {
        let revision = try RevisionID(validating: id)
        #expect(DocumentVersion(revision).description == version && !DocumentVersion.isVersion(revision))
    }

    @Test(arguments: ["", "@", "1@x", "18eb55accf3a0000@*", "zz@aYzoLxOvQo6yrcFVzgk6ZA", "0@aYzoLxOvQo6yrcFVzgk6ZA"])
    func `text that is no version is refused`(text: String) {
        #expect(DocumentVersion(text) == nil)
    }

    @Test func `a vector has seen what its versions say, whatever separates them, and the ids behind them`() throws {
        let vector = try #require(VersionVector(anna, history: "\(bert); 3-9e0c80, 2-44e1"))
        #expect(vector.revision == anna && vector.legacy.map(\.description) == ["3-9e0c80", "2-44e1"])
        let seen = try [node(7, bert), "2-44e1", "2-44e2"].map { try vector.hasSeen(RevisionID(validating: $0)) }
        #expect(seen == [true, true, false])
        #expect(vector.history(ids: 0) == bert && vector.history(ids: 1) == "\(bert),3-9e0c80")
        #expect(VersionVector("2-44e1", history: anna) == nil && VersionVector("") == nil)
        let (earlier, later) = ("18eb55accf390000@aYzoLxOvQo6yrcFVzgk6ZA", anna)
        #expect(VersionVector(later, history: earlier) != nil && VersionVector(earlier, history: later) == nil)
    }

    @Test func `a device that has a longer id has not seen CouchDB's id that wins against it`() throws {
        let (longer, winner) = ("2-cb965ab33f6398c75bd9e528c95bdf945669d1d3", "2-65c040e062edc4e6f76410646d7033af")
        let known = "2cb965ab33f@Revision+Tree+Encoding"
        let before = try tree([([longer, "1-aa"], false)])
        let tree = try tree([([longer, "1-aa"], false), ([winner, "1-aa"], false)])
        #expect(tree.winner?.revision.description == winner)
        let device = try #require(VersionVector(known))
        let states = try [before, tree].map { try #require(VersionVector($0)) }
        #expect(states.map(device.covers) == [true, false])
        let edit = try #require(VersionVector(anna, history: known))
        guard case .next = edit.place(in: before), case .branch(let history) = edit.place(in: tree) else {
            Issue.record("the edit is \(String(describing: edit.place(in: tree)))")
            return
        }
        #expect(history.revisions.map(\.description).dropFirst() == [longer, "1-aa"])
    }

    @Test func `a tree's state has seen its winner and its settled branches, and no open conflict`() throws {
        let open = "18eb55accf3a0002@OL3jexI/Slqy7d1o2+Zl5g"
        let tree = try tree([
            (["3-bb", node(2, anna), "1-aa"], false), (["3-dd", node(2, bert), "1-aa"], true),
            ([node(2, open), "1-aa"], false),
        ])
        let state = try #require(VersionVector(tree))
        // The tombstone is later than the winner, so the state has a time behind both: 3 + 3 + 2 are the generations of the leaves.
        #expect(state.revision == "3dd00000008@Revision+Tree+Encoding")
        #expect(state.history(ids: 0) == "\(bert),\(anna)" && state.legacy.map(\.description) == ["1-aa"])
    }

    @Test func `a state with another winner has another version, also where the latest id is the same`() throws {
        let before = try tree([(["1-ed"], false), (["2-9f", "1-17"], true)])
        let after = try tree([(["2-87", "1-ed"], true), (["2-9f", "1-17"], true), (["2-19", "1-15"], false)])
        let (earlier, later) = (try #require(VersionVector(before)), try #require(VersionVector(after)))
        #expect(earlier.revision == "29f00000003@Revision+Tree+Encoding")
        #expect(later.revision == "29f00000006@Revision+Tree+Encoding")
        #expect(later.covers(earlier) && !earlier.covers(later))
    }

    @Test func `an id of the latest time that there is leaves no room, and is no fault`() throws {
        let last = "16777215-ffffffffffffffffffffffffffffffff"
        let state = try #require(VersionVector(tree([(["1-ed"], false), ([last], true)])))
        #expect(state.revision == "ffffffffffffffff@Revision+Tree+Encoding")
    }

    @Test func `an edit of a device that has seen the state is the next state, and has seen that one`() throws {
        let settled: (path: [String], isDeleted: Bool) = (["2-9f", "1-17"], true)
        let before = try #require(VersionVector(tree([(["1-ed"], false), settled])))
        let after = try #require(VersionVector(tree([([node(2, anna), "1-ed"], false), settled])))
        #expect(before.revision == "29f00000003@Revision+Tree+Encoding")
        #expect(after.revision == anna && after.history(ids: 0) == "29f00000004@Revision+Tree+Encoding")
        let next = try #require(VersionVector(bert, history: "\(anna), \(before.revision)"))
        #expect(next.covers(after))
    }

    /// A device may keep the content of an earlier state only if that state has seen the later one.
    @Test(arguments: 1...200) func `no state is taken for an earlier one while a tree grows`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let sources = ["aYzoLxOvQo6yrcFVzgk6ZA", "q5ubPUxSQGGhgYKmznKaHQ"]
        var (tree, paths): (RevisionTree, [[RevisionID]]) = (RevisionTree(), [[]])
        var states: [(vector: VersionVector, winner: RevisionID)] = []
        for step in 0..<12 {
            // As replicas write: a child of any leaf, or a new branch at the root. Few digests, so that ids are close.
            let parent = random.below(4) == 0 ? [] : paths[random.below(paths.count)]
            let generation = (parent.first?.generation ?? 0) + 1
            let time = String(0x18eb_55ac_cf3a_0000 + step, radix: 16)
            let digest = String(0xA0_0000_0000 + random.below(1 << 30) << 8, radix: 16)
            let name =
                random.below(2) == 0
                ? "\(generation)-\(digest)" : try node(generation, "\(time)@\(sources[random.below(2)])")
            let path = [try RevisionID(validating: name)] + parent
            _ = tree.insert(try #require(RevisionHistory(path)), isDeleted: random.below(3) == 0)
            paths.append(path)
            let (vector, winner) = (try #require(VersionVector(tree)), try #require(tree.winner?.revision))
            let last = states.lastIndex { $0.winner != winner } ?? 0
            for earlier in states[..<last] + states[last...].filter({ $0.winner != winner }) {
                #expect(earlier.vector.current != vector.current, "seed \(seed), step \(step)")
            }
            states.append((vector, winner))
        }
    }

    @Test func `a branch that is the state again after the winner was deleted has another version`() throws {
        let open: (path: [String], isDeleted: Bool) = (try [node(2, anna), "1-aa"], false)
        let first = try #require(VersionVector(tree([open])))
        let beside = try #require(VersionVector(tree([open, (["2-ff", "1-aa"], false)])))
        let deleted: (path: [String], isDeleted: Bool) = (["3-00", "2-ff", "1-aa"], true)
        let returned = try tree([open, deleted])
        let state = try #require(VersionVector(returned))
        #expect(first.revision == anna && state.revision == "30000000005@Revision+Tree+Encoding")
        // A device takes it without a conflict, whichever of both it has: it has not seen the state, which has seen both.
        for earlier in [first, beside] { #expect(state.covers(earlier) && !earlier.covers(state)) }
        #expect(state.history(ids: 0) == anna)

        // An edit on the branch is still one of the state, and so is one of the state under its new name.
        let later = "18eb55accf3b0000@aYzoLxOvQo6yrcFVzgk6ZA"
        for (version, history) in [(later, anna), (bert, anna), (bert, "\(state.revision), \(anna)")] {
            let place = try #require(VersionVector(version, history: history)?.place(in: returned))
            guard case .next(let path) = place else {
                Issue.record("\(version) after \(history) is \(place)")
                continue
            }
            #expect(try path.revisions[1].description == node(2, anna))
        }
        // One that has seen the deleted branch alone is not.
        let place = VersionVector(bert, history: beside.revision)?.place(in: returned)
        guard case .branch = try #require(place) else { return #expect(Bool(false)) }
        // An edit with a higher id than the deleted branch has never been replaced.
        let edited = try #require(VersionVector(tree([([node(3, bert), node(2, anna), "1-aa"], false), deleted])))
        #expect(edited.revision == bert)
    }

    @Test func `a state that returned keeps having new versions, also where its branch is edited and stemmed`() throws {
        let end: (path: [String], isDeleted: Bool) = (["9-cc", "8-bb", "7-aa"], true)
        var (tree, path, names) = (try tree([end]), ["1-aa"], Set<String>())
        for number in 0..<6 {
            let time = String(0x18eb_55ac_cf3a_0000 + number, radix: 16)
            path.insert(try node(UInt64(path.count + 1), "\(time)@aYzoLxOvQo6yrcFVzgk6ZA"), at: 0)
            let history = try #require(RevisionHistory(try path.map { try RevisionID(validating: $0) }))
            _ = tree.insert(history, isDeleted: false)
            tree.stem(to: 2)
            names.insert(try #require(VersionVector(tree)).revision)
        }
        #expect(names.count == 6 && names.allSatisfy { $0.hasPrefix("9cc") }, "\(names)")
    }

    @Test func `a version that has seen the state is its child, and one that has not is a branch`() throws {
        let tree = try tree([([node(2, anna), "1-aa"], false)])
        let seen = try #require(VersionVector(bert, history: anna + ",1aa00000000@Revision+Tree+Encoding"))
        guard case .next(let path) = try #require(seen.place(in: tree)) else { return #expect(Bool(false)) }
        #expect(try path.revisions.map(\.description) == [node(3, bert), node(2, anna), "1-aa"])
        let apart = try #require(VersionVector(bert, history: "1-aa"))
        guard case .branch(let branch) = try #require(apart.place(in: tree)) else { return #expect(Bool(false)) }
        #expect(try branch.revisions.map(\.description) == [node(2, bert), "1-aa"])
        guard case .known = try #require(VersionVector(anna)?.place(in: tree)) else { return #expect(Bool(false)) }
    }

    @Test func `a version has seen a state if it has seen its current version, or exactly its winner`() throws {
        let settled = try tree([(["2-bb", "1-aa"], false), (["3-cc", "2-b0", "1-aa"], true)])
        func place(_ version: String, _ history: String, in tree: RevisionTree) throws -> VersionVector.Place {
            try #require(VersionVector(version, history: history)?.place(in: tree))
        }
        let state = try #require(VersionVector(settled)).revision
        for known in [state, "2bb00000000@Revision+Tree+Encoding", "2-bb"] {
            guard case .next = try place(anna, known, in: settled) else {
                Issue.record("\(known)")
                continue
            }
        }
        // 2-b9 is of another branch, and older than the state.
        guard case .branch = try place(anna, "2b900000000@Revision+Tree+Encoding", in: settled) else {
            Issue.record("an edit on another branch")
            return
        }
        // The device has pushed the winner, and knows nothing of the settled branch.
        let pushed = try tree([([node(2, anna), "1-aa"], false), (["3-cc", "2-b0", "1-aa"], true)])
        let later = "18eb55accf3b0000@aYzoLxOvQo6yrcFVzgk6ZA"
        guard case .next = try place(later, anna, in: pushed) else {
            Issue.record("the edit after a push")
            return
        }
        #expect(try place(anna, "", in: pushed) == .known(RevisionID(validating: node(2, anna))))
        // Its later version was given up for an earlier one, which it has to see.
        let givenUp = try tree([([node(2, anna), "1-aa"], false), (["4-dd", node(3, later), "2-bb", "1-aa"], true)])
        let latest = "18eb55accf3c0000@aYzoLxOvQo6yrcFVzgk6ZA"
        guard case .branch = try place(latest, later, in: givenUp) else {
            Issue.record("an edit after a version that was given up")
            return
        }
    }

    @Test func `a state has seen the versions that were stemmed`() throws {
        var tree = try tree([(["6-ff", "5-ee", "4-dd", "3-cc", node(2, bert), node(1, anna)], false)])
        tree.stem(to: 2)
        let state = try #require(VersionVector(tree))
        #expect(state.revision == "6ff00000000@Revision+Tree+Encoding" && state.history(ids: 0) == "\(bert),\(anna)")
        #expect(try #require(VersionVector(anna)).place(in: tree) == .known(RevisionID(validating: node(1, anna))))
    }

    @Test func `a message names the latest versions only, so that its properties stay small`() throws {
        let path = (0..<1500).map { number in
            let time = String(0x18eb_55ac_cf3a_0000 + number, radix: 16)
            let device = String(repeating: String(0x1000 + number, radix: 16), count: 8)
            return "\(number + 1)-\(time)\(device)"
        }
        let tree = try tree([(path.reversed(), false)])
        let state = try #require(VersionVector(tree))
        #expect(state.current == DocumentVersion(try RevisionID(validating: path[1499])))
        #expect(state.history(ids: 1000).utf8.count < 100_000)
        #expect(state.history(ids: 0).split(separator: ",").count == 999)
        #expect(VersionVector(state.revision, history: state.history(ids: 1000)) != nil)
    }

    @Test func `a document that only ids of a tree are known of begins behind them`() throws {
        let vector = try #require(VersionVector(anna, history: "2-bb,1-aa"))
        #expect(
            try vector.place(in: nil) == .next(#require(RevisionHistory(node(3, anna), history: "2-bb,1-aa"))))
        #expect(try #require(VersionVector(anna, history: "3-bb,1-aa")).place(in: nil) == nil)
    }
}
