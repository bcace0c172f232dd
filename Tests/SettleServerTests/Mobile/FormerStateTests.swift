import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// A device that replicates over a WebSocket, at a server where clients of CouchDB's API write branches and delete leaves.
///
/// The protocol sends each document's current revision alone, so a device that has edited nothing must end as the server is,
/// without a conflict.
@Suite(.timeLimit(.minutes(10))) struct FormerStateTests {
    private let live: LiveServer
    private let remote: Database
    private let database: Database
    private let peer: MobilePeer

    init() throws {
        live = try LiveServer()
        try live.server.state.create("db")
        remote = try live.server.state.databases.open("db")
        database = try Database.inMemory()
        peer = try MobilePeer("ws://admin:admin@127.0.0.1:\(live.port)/db")
    }

    private func sync(_ policy: ConflictPolicy = .threeWayMerge()) async throws {
        var pull = ReplicationConfiguration.pull(database, from: peer)
        pull.conflictPolicy = policy
        try await OneWayReplicator(pull).run()
        try await OneWayReplicator(.push(database, to: peer)).run()
    }

    /// Writes a revision over HTTP with `new_edits=false`: a new one with a word, as a child of a path's first.
    private func branch(_ id: DocumentID, _ signature: String, from path: [RevisionID], word: String) async throws {
        let start = (path.first?.generation ?? 0) + 1
        let ids = [signature] + path.map(\.signature.description)
        let revision: JSONValue = ["start": .number(JSONNumber(start)), "ids": .array(ids.map { .string($0) })]
        let document: JSONValue = [
            "_id": .string(id.string), "_rev": .string("\(start)-\(signature)"), "_revisions": revision,
            "words": [.string(word)],
        ]
        let answer = try await live.ask("POST", "/db/_bulk_docs", ["docs": [document], "new_edits": false])
        #expect(answer.status == 201, "\(answer.text)")
    }

    private func save(_ id: DocumentID, on revision: RevisionID?, word: String) async throws {
        var document: JSONObject = ["words": [.string(word)]]
        if let revision { document["_rev"] = .string(revision.description) }
        let answer = try await live.ask("PUT", "/db/\(id)", .object(document))
        #expect(answer.status == 201, "\(answer.text)")
    }

    private func delete(_ id: DocumentID, _ revision: RevisionID) async throws {
        let answer = try await live.ask("DELETE", "/db/\(id)?rev=\(revision)")
        #expect(answer.status == 200, "\(answer.text)")
    }

    private func tree(_ id: DocumentID, in database: Database) throws -> RevisionTree {
        try database.tree(of: id) ?? RevisionTree()
    }

    private func path(_ id: DocumentID, _ revision: RevisionID) throws -> [RevisionID] {
        try #require(try tree(id, in: remote).history(of: revision)).revisions
    }

    /// Sees that a document is here as it is at the server, and without a conflict.
    private func expectEqual(_ id: DocumentID, _ comment: Comment? = nil) throws {
        let (here, there) = (try tree(id, in: database), try tree(id, in: remote))
        #expect(here.winner?.revision == there.winner?.revision, comment)
        #expect(here.isDeleted == there.isDeleted, comment)
        #expect(try database.document(id)?["words"] == remote.document(id)?["words"], comment)
        for kind in ConflictKind.allCases {
            #expect(try !database.conflictedDocumentIDs(kind).contains(id), comment)
        }
    }

    /// Ends the branch of the server's winner: another client writes one beside it, deletes the winner, and saves on.
    private func switchBranch(_ id: DocumentID) async throws {
        let winner = try #require(try tree(id, in: remote).winner).revision
        let parent = Array(try path(id, winner).dropFirst())
        try await branch(id, "fff", from: parent, word: "beside")
        try await delete(id, winner)
        let other = try #require(RevisionID("\(winner.generation)-fff"))
        try await save(id, on: other, word: "on")
    }

    @Test(arguments: [false, true])
    func `a leaf that came from the server goes when the server's state is on another branch`(
        settles: Bool
    )
        async throws
    {
        try await save("a", on: nil, word: "one")
        for word in ["two", "three"] {
            try await save("a", on: try tree("a", in: remote).winner?.revision, word: word)
        }
        try await sync()
        let revision = try #require(try database.document("a")?.revision)
        try await switchBranch("a")
        try await sync(settles ? .threeWayMerge() : .keepAll)
        try expectEqual("a")
        #expect(try database.document("a")?["words"] == ["on"])
        #expect(try !tree("a", in: database).contains(revision))
        // Nothing was written, so nothing is sent.
        let count = try tree("a", in: remote).count
        try await sync()
        #expect(try tree("a", in: remote).count == count)
    }

    @Test func `a document that was deleted on another branch is deleted here`() async throws {
        try await save("a", on: nil, word: "one")
        try await save("a", on: try tree("a", in: remote).winner?.revision, word: "two")
        try await sync()
        let winner = try #require(try tree("a", in: remote).winner).revision
        try await branch("a", "fff", from: Array(try path("a", winner).dropFirst()), word: "beside")
        for leaf in try tree("a", in: remote).leaves { try await delete("a", leaf.revision) }
        try await sync()
        try expectEqual("a")
        #expect(try database.document("a") == nil)
    }

    @Test func `an own edit that was pushed goes with its branch, and one that was not stays`() async throws {
        try await save("a", on: nil, word: "one")
        try await sync()
        try database.update("a") { $0["own"] = "sent" }
        try await sync()
        #expect(try remote.document("a")?["own"] == "sent")
        try await switchBranch("a")
        try await sync()
        try expectEqual("a")

        try database.update("a") { $0["own"] = "kept" }
        let own = try #require(try database.document("a")?.revision)
        try await switchBranch("a")
        try await sync(.keepAll)
        #expect(try tree("a", in: database).leaves.map(\.revision).contains(own))
        #expect(try database.conflictedDocumentIDs() == ["a"])
    }

    @Test(arguments: [ConflictPolicy.threeWayMerge(), .keepAll])
    func `an edit of a former state is merged on that where the common base never was here`(
        first: ConflictPolicy
    ) async throws {
        try await save("a", on: nil, word: "one")
        try await save("a", on: try tree("a", in: remote).winner?.revision, word: "two")
        try await sync()
        try database.update("a") { $0["own"] = "kept" }
        try await switchBranch("a")
        try await sync(first)
        try await sync()
        try await sync()
        for side in [database, remote] {
            let document = try #require(try side.document("a"))
            #expect(document["own"] == "kept" && document["words"] == ["on"])
            #expect(try tree("a", in: side).leaves.count { !$0.isDeleted } == 1)
        }
    }

    @Test func `an edit goes on after it was sent as a child of a deletion of an unknown branch`() async throws {
        try await save("a", on: nil, word: "one")
        try await save("a", on: try tree("a", in: remote).winner?.revision, word: "two")
        try await sync()
        try database.update("a") { $0["own"] = "first" }
        try await switchBranch("a")
        try await delete("a", try #require(try tree("a", in: remote).winner).revision)
        try await sync()
        #expect(try remote.document("a")?["own"] == "first")
        try database.update("a") { $0["own"] = "second" }
        for _ in 0..<2 { try await sync() }
        for side in [database, remote] {
            #expect(try side.document("a")?["own"] == "second")
            #expect(try tree("a", in: side).leaves.count { !$0.isDeleted } == 1)
        }
    }

    @Test func `a leaf from another server stays until this one has had it`() async throws {
        #expect(try await live.ask("PUT", "/other").status == 201)
        try await save("a", on: nil, word: "one")
        let root = try #require(try tree("a", in: remote).winner).revision
        let other = try live.server.state.databases.open("other")
        let far = try #require(RevisionID("2-eee"))
        let history = try #require(RevisionHistory([far, root]))
        let revision = ReplicatedRevision(
            id: "a", history: history, body: try DocumentBody(["words": ["elsewhere"]]))
        _ = try other.insertReplicated([revision])
        let http = try CouchDBPeer(try HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/other"))
        try await OneWayReplicator(.pull(database, from: http)).run()
        try await branch("a", "fff", from: [root], word: "here")
        try await sync(.keepAll)
        #expect(try tree("a", in: database).leaves.map(\.revision.description) == ["2-fff", "2-eee"])

        // Now the other leaf comes to the server, too, and another client deletes it.
        _ = try remote.insertReplicated([revision])
        try await delete("a", far)
        try await save("a", on: RevisionID("2-fff"), word: "on")
        try await sync(.keepAll)
        try expectEqual("a")
    }

    /// The server is asked about 200 documents at a time, those whose revisions come and those that are in conflict already.
    @Test(arguments: [false, true])
    func `leaves of more documents than one question names go, and edits that were not sent do not`(
        areInConflict: Bool
    ) async throws {
        let ids = (0..<450).map { DocumentID(unchecked: "doc-\($0)") }
        let edited = Set(ids.enumerated().filter { $0.offset.isMultiple(of: 90) }.map(\.element))
        func insert(_ path: [String], word: String, in target: Database) throws {
            let revisions = try path.map { try #require(RevisionID($0)) }
            let history = try #require(RevisionHistory(revisions))
            let body = try DocumentBody(["words": [.string(word)]])
            _ = try target.insertReplicated(ids.map { ReplicatedRevision(id: $0, history: history, body: body) })
        }
        func pull() async throws {
            var pull = ReplicationConfiguration.pull(database, from: peer)
            pull.conflictPolicy = areInConflict ? .threeWayMerge() : .keepAll
            try await OneWayReplicator(pull).run()
        }
        try insert(["2-aaa", "1-111"], word: "first", in: remote)
        try await pull()
        for id in edited { try database.update(id) { $0["own"] = "kept" } }
        let path = ["3-fff", "2-fff", "1-111"]
        try insert(path, word: "on", in: remote)
        if areInConflict {
            try insert(path, word: "on", in: database)
            #expect(try database.conflictedDocumentIDs().count == ids.count)
        }
        try await pull()
        for id in ids where !edited.contains(id) { try expectEqual(id, "\(id)") }
        #expect(try Set(database.conflictedDocumentIDs()) == (areInConflict ? [] : edited))
        for id in edited where areInConflict {
            let document = try #require(try database.document(id))
            #expect(document["own"] == "kept" && document["words"] == ["on"])
        }
    }

    /// 500 leaves with 21 ids each are more rows than the server takes at a time.
    @Test func `a leaf of a document with hundreds of leaves and ended branches goes when the server has had it`()
        async throws
    {
        func revision(_ path: [String], isDeleted: Bool = false) throws -> ReplicatedRevision {
            let revisions = try path.map { try #require(RevisionID($0)) }
            let history = try #require(RevisionHistory(revisions))
            let body = try DocumentBody(["words": [.string(path[0])]])
            return ReplicatedRevision(id: "a", history: history, isDeleted: isDeleted, body: body)
        }
        let former = try revision(["2-aaa", "1-111"])
        let open = try (0..<499).map { try revision(["2-b\($0)", "1-111"]) }
        let ended = try (0..<20).map { try revision(["3-d\($0)", "2-d\($0)", "1-111"], isDeleted: true) }
        _ = try database.insertReplicated([former] + open + ended)
        _ = try remote.insertReplicated([former, try revision(["3-fff", "2-fff", "1-111"])])
        var pull = ReplicationConfiguration.pull(database, from: peer)
        pull.conflictPolicy = .keepAll
        try await OneWayReplicator(pull).run()
        let leaves = try tree("a", in: database).leaves.filter { !$0.isDeleted }.map(\.revision.description)
        #expect(leaves.count == 500 && leaves.contains("3-fff") && !leaves.contains("2-aaa"))
    }

    @Test(arguments: 1...24) func `a device without edits ends as the server is`(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        for _ in 0..<5 {
            for _ in 0..<random.below(7) { try await write(&random) }
            try await sync()
        }
        try await sync()
        for number in 0..<3 { try expectEqual(DocumentID(unchecked: "doc-\(number)"), "seed \(seed), \(number)") }
        #expect(try database.conflictCount(Set(ConflictKind.allCases)) == 0, "seed \(seed)")
    }

    @Test(arguments: 1...16) func `a device with edits loses none that the server has not had`(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        var (own, delivered) = ([DocumentID: Set<String>](), [DocumentID: Set<String>]())
        for round in 0..<6 {
            for _ in 0..<random.below(5) { try await write(&random) }
            for number in 0..<random.below(3) {
                let id = DocumentID(unchecked: "doc-\(random.below(3))")
                let word = "own-\(round)-\(number)"
                try database.updateOrCreate(id) { $0[word] = true }
                own[id, default: []].insert(word)
            }
            try await sync(random.oneIn(2) ? .threeWayMerge() : .keepAll)
            for (id, words) in own {
                for leaf in try tree(id, in: remote).leaves {
                    let document = try remote.document(id, revision: leaf.revision)
                    delivered[id, default: []].formUnion(words.filter { document?[$0] != nil })
                }
                var here: Set<String> = []
                for leaf in try tree(id, in: database).leaves where !leaf.isDeleted {
                    let document = try database.document(id, revision: leaf.revision)
                    here.formUnion(words.filter { document?[$0] != nil })
                }
                let lost = words.subtracting(here).subtracting(delivered[id] ?? [])
                #expect(lost.isEmpty, "seed \(seed), round \(round), \(id)")
            }
        }
    }

    /// Another client does something to a document over HTTP.
    private func write(_ random: inout SeededRandom) async throws {
        let id = DocumentID(unchecked: "doc-\(random.below(3))")
        let word = "w\(random.below(1_000_000))"
        let tree = try tree(id, in: remote)
        let live = tree.leaves.filter { !$0.isDeleted }.map(\.revision)
        guard let winner = tree.winner, let leaf = random.pick(live) else {
            // A document without a live leaf is made anew.
            return try await save(id, on: nil, word: word)
        }
        switch random.below(6) {
        case 0: try await save(id, on: winner.revision, word: word)
        case 1: try await save(id, on: leaf, word: word)
        case 2, 3:
            let picked = random.pick(tree.revisions.filter { tree[$0]?.isDeleted == false })
            let parent = picked ?? winner.revision
            let digits = String(random.next(), radix: 16)
            try await branch(id, digits, from: try path(id, parent), word: word)
        default: try await delete(id, leaf)
        }
    }
}
