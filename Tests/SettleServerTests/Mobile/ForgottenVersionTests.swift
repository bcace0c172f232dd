import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettleMobile
import SettlePlatform
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// Devices with Settle's own database that hold a version of a Couchbase Lite device, at a server that has stemmed it.
///
/// The server still knows the version, so it never asks for it. The device must learn that it is an earlier state.
@Suite(.timeLimit(.minutes(5))) struct ForgottenVersionTests {
    private static let limit = 4
    private let live: LiveServer
    private let remote: Database
    private let database: Database
    private let client = PathCounter()

    init() throws {
        live = try LiveServer()
        try live.server.state.create("db")
        remote = try live.server.state.databases.open("db")
        try remote.setRevisionLimit(Self.limit)
        database = try Database.inMemory()
    }

    private func http() throws -> any Peer {
        try CouchDBPeer(HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/db"), client: client)
    }

    private func pull(
        from peer: (any Peer)? = nil, _ change: (inout ReplicationConfiguration) -> Void = { _ in }
    ) async throws {
        let source = if let peer { peer } else { try http() }
        var configuration = ReplicationConfiguration.pull(database, from: source)
        change(&configuration)
        try await OneWayReplicator(configuration).run()
    }

    private func push() async throws -> ReplicationResult {
        try await OneWayReplicator(.push(database, to: try http())).run()
    }

    /// A version that a Couchbase Lite device has made of a new document.
    private static func version() throws -> RevisionID {
        let version = try #require(DocumentVersion("18eb55accf3a0000@aYzoLxOvQo6yrcFVzgk6ZA"))
        let signature = try #require(version.signature)
        return try #require(RevisionID(generation: 1, signature: signature))
    }

    private func insert(_ path: [RevisionID], _ body: JSONValue) throws {
        let history = try #require(RevisionHistory(path))
        _ = try remote.insertReplicated([ReplicatedRevision(id: "a", history: history, body: try DocumentBody(body))])
    }

    private func edit(_ count: Int) throws {
        for number in 0..<count { try remote.update("a") { $0["n"] = .number(JSONNumber(number)) } }
    }

    private func tree(_ database: Database) throws -> RevisionTree { try database.tree(of: "a") ?? RevisionTree() }

    private func leaves(_ database: Database) throws -> [RevisionID] { try tree(database).leaves.map(\.revision) }

    private func expectEqual() throws {
        #expect(try leaves(database) == leaves(remote))
        #expect(try database.document("a")?.json == remote.document("a")?.json)
        #expect(try database.conflictCount(Set(ConflictKind.allCases)) == 0)
    }

    @Test(arguments: [false, true], [false, true])
    func `a version that the server has stemmed goes when a later state comes`(
        isDeleted: Bool, isHere: Bool
    ) async throws {
        let peer = isHere ? LocalPeer(remote) : try http()
        let version = try Self.version()
        try insert([version], ["n": 0])
        try await pull(from: peer)
        #expect(try leaves(database) == [version])
        try edit(Self.limit + 2)
        if isDeleted { try remote.delete("a") }
        #expect(try tree(remote).forgottenVersions.contains(version))
        try await pull(from: peer)
        try expectEqual()
        #expect(try !tree(database).contains(version))
        #expect(try await push().counts.revisionsWritten == 0)
        try expectEqual()
    }

    @Test func `an edit of such a version that was not sent stays, and is sent`() async throws {
        try insert([try Self.version()], ["n": 0])
        try await pull()
        try database.update("a") { $0["own"] = true }
        let own = try #require(try database.document("a")?.revision)
        try edit(Self.limit + 2)
        try remote.delete("a")
        try await pull()
        #expect(try leaves(database).contains(own))
        #expect(try await push().counts.revisionsWritten == 1)
        #expect(try leaves(database) == leaves(remote))
        #expect(try remote.document("a")?["own"] == true)
    }

    @Test func `a version that is an open branch at the server stays`() async throws {
        let version = try Self.version()
        try insert([version], ["n": 0])
        try await pull()
        let digits = String(repeating: "b", count: 32)
        try insert(try (7...10).reversed().map { try RevisionID(validating: "\($0)-\(digits)") }, ["n": 1])
        try await pull()
        #expect(try leaves(database) == leaves(remote))
        #expect(try leaves(database).contains(version))
    }

    @Test(arguments: [false, true])
    func `a filter of revisions does not remove a leaf, and neither does a pull of winners`(
        isOfWinners: Bool
    ) async throws {
        let version = try Self.version()
        try insert([version], ["n": 0])
        try await pull()
        try edit(Self.limit + 2)
        let selector = try MangoSelector(["n": ["$gte": 0]])
        try await pull { configuration in
            if isOfWinners {
                configuration.replicatesOnlyWinners = true
            } else {
                configuration.filter = .selector(selector)
            }
        }
        let winner = try #require(try tree(remote).winner).revision
        #expect(try leaves(database) == [winner, version])
    }

    @Test func `without versions of devices the leaf is sent back, as to a CouchDB`() async throws {
        let first = try RevisionID(validating: "1-" + String(repeating: "a", count: 32))
        try insert([first], ["n": 0])
        try await pull()
        try edit(Self.limit + 2)
        try remote.delete("a")
        try await pull()
        #expect(try await push().counts.revisionsWritten == 1)
        #expect(try leaves(database) == leaves(remote))
        #expect(try remote.document("a")?.revision == first)
    }

    @Test func `the server is asked about no leaf unless a history does not reach it`() async throws {
        try insert([try Self.version()], ["n": 0])
        try await pull()
        for _ in 0..<3 {
            try edit(Self.limit - 1)
            try await pull()
        }
        try expectEqual()
        // The first revision came with the changes.
        #expect(client.count("/db/_revs_diff") == 0 && client.count("/db/_bulk_get") == 3)
        try edit(Self.limit + 2)
        try await pull()
        #expect(client.count("/db/_revs_diff") == 1)
    }
}

/// A client that counts its requests by their paths.
private final class PathCounter: HTTPTransport {
    private let client = DefaultTransport()
    private let counts = Guarded<[String: Int]>([:])

    func count(_ path: String) -> Int { counts.withLock { $0[path] ?? 0 } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        counts.withLock { $0[request.url.path, default: 0] += 1 }
        return try await client.send(request)
    }
}
