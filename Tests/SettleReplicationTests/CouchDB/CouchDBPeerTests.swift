import Settle
import SettleCore
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

/// A database behind CouchDB's API, at each available server.
@Suite(.timeLimit(.minutes(5))) struct CouchDBPeerTests {
    private let home = PeerHome()

    @Test(arguments: ServerKind.all)
    func `a database is created once, and opened afterwards`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        let missing = await #expect(throws: PeerError.self) { try await peer.connect() }
        #expect(missing?.code == .notFound && missing?.isTransient == false)
        try await peer.create()
        try await peer.create()
        let info = try await peer.connect()
        #expect(info.product == (kind == .settle ? "Settle" : "CouchDB") && info.version?.isEmpty == false)
        #expect(info.instance?.isEmpty == false && info.lastSequence.number == 0)
    }

    @Test(arguments: ServerKind.all)
    func `a database that was created again has another identity`(_ kind: ServerKind) async throws {
        let url = try home.url(kind)
        let client = DefaultTransport()
        let peer = try CouchDBPeer(url, client: client)
        try await peer.create()
        let first = try await peer.connect().instance
        #expect(try await peer.connect().instance == first)
        guard kind == .settle else { return }
        _ = try await CouchDBConnection(database: url, client: client).json("DELETE", "")
        try await peer.create()
        #expect(try await peer.connect().instance != first)
    }

    // SEMANTICS 134
    @Test func `a password and a spelling are not part of the identity, the user is`() async throws {
        func identity(_ text: String, _ credentials: ReplicationCredentials? = nil) async throws -> String {
            try await CouchDBPeer(HTTPURL(text), credentials: credentials).identity()
        }
        let plain = try await identity("http://anna:secret@Example.com:80/db/")
        #expect(plain == "http://anna@example.com/db")
        #expect(try await identity("http://anna:other@example.com/db") == plain)
        #expect(try await identity("http://example.com/db", .session(user: "anna", password: "x")) == plain)
        #expect(try await identity("http://example.com/db") == "http://example.com/db")
        #expect(throws: PeerError.self) { try CouchDBPeer(HTTPURL("http://example.com/")) }
    }

    @Test(arguments: ServerKind.all)
    func `stored revisions appear in changes and differences and are read back`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let all = [
            try revision("a", "2-b 1-a", ["n": 1.0, "e": [1, 2]]), try revision("a", "2-c 1-a", ["n": 2]),
            try revision("b/ä +?", "1-a", [:]), try revision("_design/d", "1-a", ["language": "javascript"]),
            try revision("gone", "3-c 2-b 1-a", ["why": "x"], isDeleted: true),
        ]
        #expect(try await peer.store(all, branching: .allowed).map(\.name) == Array(repeating: "stored", count: 5))
        // SEMANTICS 200
        #expect(try await peer.store(all, branching: .allowed).map(\.name) == Array(repeating: "stored", count: 5))
        let page = try await peer.changes(ChangesRequest())
        #expect(Set(page.changes.map(\.id)) == ["a", "b/ä +?", "_design/d", "gone"] && page.pending == 0)
        let changed = Dictionary(uniqueKeysWithValues: page.changes.map { ($0.id, $0) })
        #expect(try changed["a"]?.leaves == [rev("2-c"), rev("2-b")], "the winner first")
        #expect(changed["gone"]?.isDeleted == true && changed["a"]?.isDeleted == false)
        #expect(try await peer.changes(ChangesRequest(since: page.last)).changes.isEmpty)
        #expect(try await peer.connect().lastSequence.number == page.last.number)

        let news = try [
            ChangedDocument(sequence: .start, id: "a", leaves: [rev("3-x"), rev("2-c")]),
            ChangedDocument(sequence: .start, id: "gone", leaves: [rev("3-c")]),
            ChangedDocument(sequence: .start, id: "new/ü", leaves: [rev("1-x")]),
        ]
        let rows = try await peer.differences(from: news)
        #expect(rows.map(\.id) == ["a", "new/ü"])
        #expect(try rows[0].missing == [rev("3-x")])
        #expect(try Set(rows[0].possibleAncestors) == [rev("2-b"), rev("2-c")])

        let read = try await peer.found(all.map { RevisionRequest(id: $0.id, revision: $0.revision) })
        #expect(read.map(\.id) == all.map(\.id) && read.map(\.history) == all.map(\.history))
        #expect(read.map(\.body) == all.map(\.body) && read.map(\.isDeleted) == all.map(\.isDeleted))
    }

    @Test(arguments: ServerKind.all)
    func `a missing revision is reported, and the others are found`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        _ = try await peer.store([revision("a", "2-b 1-a")], branching: .allowed)
        let answers = try await peer.revisions(
            [
                RevisionRequest(id: "no", revision: rev("1-a")), RevisionRequest(id: "a", revision: rev("1-a")),
                RevisionRequest(id: "a", revision: rev("2-b"), isDeletionAtSource: true),
                RevisionRequest(id: "a", revision: rev("9-x")),
            ], budget: 1000)
        #expect(answers.count == 4)
        for (index, answer) in answers.enumerated() {
            switch answer {
            case .missing: #expect(index != 2)
            case .found(let revision): #expect(index == 2 && revision.isDeletionAtSource)
            case .failed(let error), .refused(let error): Issue.record("\(error)")
            }
        }
    }

    @Test(arguments: ServerKind.all)
    func `pages continue where the last one ended`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let all = try (0..<250).map { try revision(DocumentID(validating: "doc-\($0)"), "1-a", ["n": 1]) }
        _ = try await peer.store(all, branching: .allowed)
        for limit in [1, 7, 120, 500] {
            var seen: [DocumentID] = []
            var since = PeerSequence.start
            while true {
                let page = try await peer.changes(ChangesRequest(since: since, limit: limit))
                if page.changes.isEmpty { break }
                seen += page.changes.map(\.id)
                since = page.last
                if limit == 1, seen.count > 20 { break }
            }
            #expect(limit == 1 || seen.count == 250 && Set(seen).count == 250)
        }
    }

    @Test(arguments: ServerKind.all)
    func `a read stays within the budget of bytes, but returns at least one revision`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let text = JSONValue.string(String(repeating: "x", count: 10_000))
        let all = try (0..<20).map {
            try revision(DocumentID(validating: "doc-\($0)"), "1-a", DocumentBody(["t": text]))
        }
        _ = try await peer.store(all, branching: .allowed)
        let requests = all.map { RevisionRequest(id: $0.id, revision: $0.revision) }
        var rest = requests[...]
        var rounds = 0
        while !rest.isEmpty {
            let answers = try await peer.found(Array(rest), budget: 45_000)
            #expect(answers.map(\.id) == rest.prefix(answers.count).map(\.id) && answers.count <= 5)
            rest = rest.dropFirst(answers.count)
            rounds += 1
        }
        #expect((4...20).contains(rounds))
        #expect(try await peer.found(requests, budget: 1).count == 1)
    }

    @Test(arguments: ServerKind.all)
    func `filters select documents at the source`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let all = [
            try revision("a", "1-a", ["type": "x"]), try revision("b", "1-a", ["type": "y"]),
            try revision("c", "1-a", ["type": "x"]),
        ]
        _ = try await peer.store(all, branching: .allowed)
        func ids(_ filter: ReplicationFilter) async throws -> [String] {
            try await peer.changes(ChangesRequest(filter: filter)).changes.map(\.id.string).sorted()
        }
        #expect(try await ids(.documents(["a", "b", "nowhere"])) == ["a", "b"])
        #expect(try await ids(.selector(MangoSelector(["type": "x"]))) == ["a", "c"])
        let missing = await #expect(throws: PeerError.self) {
            try await ids(.named("none/none", parameters: ["limit": "1"]))
        }
        #expect(missing?.code == .notFound)
    }

    @Test(arguments: ServerKind.all)
    func `waiting ends with a change, or at the timeout`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        for heartbeat in [Duration.milliseconds(1001), .seconds(60)] {
            var request = ChangesRequest(wait: .milliseconds(1100))
            request.since = try await peer.changes(ChangesRequest()).last
            request.heartbeat = heartbeat
            let empty = try await peer.changes(request)
            #expect(empty.changes.isEmpty)
            request.wait = .seconds(120)
            let waiting = Task { [request] in try await peer.changes(request) }
            _ = try await peer.store([revision("a", heartbeat > .seconds(2) ? "2-b 1-a" : "1-a")], branching: .allowed)
            #expect(try await waiting.value.changes.map(\.id) == ["a"])
        }
    }

    @Test(arguments: ServerKind.all)
    func `a cancelled call ends`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let waiting = Task { try await peer.changes(ChangesRequest(wait: .seconds(1000))) }
        waiting.cancel()
        let error = await #expect(throws: PeerError.self) { try await waiting.value }
        #expect(error?.code == .cancelled && error?.isTransient == false)
    }

    @Test(arguments: ServerKind.all)
    func `local documents replace the revision that was read`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        let gone = await #expect(throws: PeerError.self) { try await peer.localDocument("_local/x") }
        #expect(gone?.code == .notFound)
        try await peer.create()
        let id: DocumentID = "_local/a b/ü"
        #expect(try await peer.localDocument(id) == nil)
        let first = try await peer.saveLocalDocument(id, body: ["v": 1], revision: nil)
        #expect(first == "0-1")
        let second = try await peer.saveLocalDocument(id, body: ["v": 2, "list": [1, 2]], revision: first)
        #expect(
            try await peer.localDocument(id) == PeerLocalDocument(revision: second, body: ["v": 2, "list": [1, 2]]))
    }

    @Test(arguments: ServerKind.all)
    func `a wrong password is reported with the user and without the password`(_ kind: ServerKind) async throws {
        let url = try home.url(kind)
        let peer = try CouchDBPeer(url, credentials: .basic(user: "anna", password: "wrong-w@rd"))
        let error = await #expect(throws: PeerError.self) { try await peer.connect() }
        #expect(error?.code == .unauthorized && error?.message.contains("'anna'") == true)
        #expect(error?.message.contains(url.authority) == true && "\(error as Any)".contains("wrong-w") == false)
    }

    @Test func `an absent server is unreachable`() async throws {
        let server = try OddServer { _ in .init(200, "{}") }
        let peer = try server.peer()
        server.stop()
        let error = await #expect(throws: PeerError.self) { try await peer.connect() }
        #expect(error?.code == .unreachable && error?.isTransient == true)
        await peer.close()
        let closed = await #expect(throws: PeerError.self) { try await peer.connect() }
        #expect(closed?.code == .cancelled)
    }

    @Test(arguments: ServerKind.all)
    func `a large batch is sent in several requests`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind) { $0.requestBytes = 5000 }
        try await peer.create()
        let all = try (0..<60).flatMap { number in
            try ["1-a", "1-b"].map {
                try revision(
                    DocumentID(validating: "doc-\(number)"), $0, ["t": .string(String(repeating: "x", count: 300))])
            }
        }
        #expect(try await peer.store(all, branching: .allowed).allSatisfy { $0.name == "stored" })
        let page = try await peer.changes(ChangesRequest())
        #expect(page.changes.count == 60 && page.changes.allSatisfy { $0.leaves.count == 2 })
    }

    @Test(arguments: ServerKind.all)
    func `a revision that would branch is refused where branches are not allowed`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        _ = try await peer.store(
            ["behind", "ahead", "closed", "both"].map { try revision($0, "2-b 1-a") }, branching: .allowed)
        let outcomes = try await peer.store(
            [
                revision("behind", "2-c 1-a"), revision("ahead", "3-d 2-b 1-a"), revision("new", "1-a"),
                // A winner with a closed branch, and two live branches.
                revision("closed", "3-d 2-b 1-a"), revision("closed", "3-t 2-c 1-a", isDeleted: true),
                revision("both", "3-d 2-b 1-a"), revision("both", "2-c 1-a"),
                revision("twins", "1-a"), revision("twins", "1-b"),
            ], branching: .refused)
        #expect(
            outcomes.map(\.name)
                == ["refused conflict", "stored", "stored", "stored", "stored"]
                + Array(repeating: "refused conflict", count: 4))
        let changes = try await peer.changes(ChangesRequest()).changes
        let leaves = Dictionary(uniqueKeysWithValues: changes.map { ($0.id, $0.leaves.map(\.description)) })
        #expect(
            leaves == [
                "behind": ["2-b"], "ahead": ["3-d"], "closed": ["3-d", "3-t"], "both": ["2-b"], "new": ["1-a"],
            ])
    }
}
