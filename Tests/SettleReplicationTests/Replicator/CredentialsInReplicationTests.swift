import RevisionTree
import Settle
import SettleDatabase
import SettleServer
import SettleTesting
import Testing

@testable import SettleReplication

/// Who a replication is, what it shows of that, and what becomes of its checkpoint.
@Suite(.timeLimit(.minutes(5))) struct CredentialsInReplicationTests {
    private static let secret = "p%40ss-w0rd"

    private func makeServer() throws -> LiveServer { try LiveServer { $0.security.admins["anna"] = "p@ss-w0rd" } }

    // SEMANTICS 135
    @Test func `credentials of the address are used, and shown nowhere`() async throws {
        let server = try makeServer()
        _ = try Store(path: server.folder.path).create("hub")
        let logged = Guarded<[String]>([])
        var options = DatabaseOptions()
        options.warn = { message in logged.withLock { $0.append(message) } }
        let notes = try Database.inMemory(options: options)
        defer { notes.close() }
        try notes.put("a", ["n": 1])
        let right = try CouchDBPeer(server.url("hub", credentials: "anna:\(Self.secret)@"))
        let wrong = try CouchDBPeer(server.url("hub", credentials: "anna:\(Self.secret)-not@"))
        let replicator = Replicator(.push(notes, to: right))
        let events = Guarded<[String]>([])
        let stream = replicator.events
        let listening = Task { for await event in stream { events.withLock { $0.append("\(event)") } } }
        let result = try await replicator.run()
        #expect(result.counts.revisionsWritten == 1)
        let failing = Replicator(.push(notes, to: wrong))
        let error = await #expect(throws: PeerError.self) { try await failing.run() }
        #expect(error?.code == .unauthorized && error?.message.contains("basic authentication as 'anna'") == true)
        listening.cancel()
        await listening.value
        var text = "\(result) \(error as Any) \(right.name) \(replicator.status) \(failing.status) \(replicator.ledger)"
        text += "\(events.withLock(\.self)) \(logged.withLock(\.self)) \(replicator.configuration)"
        dump(right, to: &text)
        dump(error as Any, to: &text)
        text += try await right.identity()
        for hidden in ["p@ss", "p%40ss", "w0rd"] { #expect(!text.contains(hidden)) }
        // Another password is the same replication, another user is another one.
        let id = try await replicator.configuration.replicationID()
        #expect(try await failing.configuration.replicationID() == id)
        let other = try CouchDBPeer(server.url("hub"))
        #expect(try await ReplicationConfiguration.push(notes, to: other).replicationID() != id)
    }

    // SEMANTICS 137
    @Test func `a password that goes out in the open is warned of, once a peer`() throws {
        let warnings = Guarded<[String]>([])
        for url in ["http://anna:hunter2@couch.example/db", "https://anna:hunter2@couch.example/db"] {
            _ = try CouchDBPeer(HTTPURL(url)) { message in warnings.withLock { $0.append(message) } }
        }
        let told = warnings.withLock(\.self)
        #expect(told == ["basic authentication as 'anna' goes to couch.example in the open: use https"])
    }

    // SEMANTICS 138
    @Test func `new tokens of OAuth take the place of old ones, and the checkpoint stays`() async throws {
        let server = try makeServer()
        let hub = try Store(path: server.folder.path).create("hub")
        let notes = try Database.inMemory()
        defer { notes.close() }
        for number in 0..<20 { try hub.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let gate = TokenGate(CurlHTTPClient(), token: "old", user: try server.url().withBasic)
        func pull(_ token: String) throws -> ReplicationConfiguration {
            let keys = OAuth1(consumerKey: "app", consumerSecret: "s1", token: token, tokenSecret: "s2")
            return .pull(
                notes,
                from: try CouchDBPeer(server.url("hub", credentials: ""), credentials: .oauth1(keys), client: gate))
        }
        let replicator = try await notes.replications.replicator(pull("old"))
        #expect(try await replicator.run().counts.changesRead == 20)
        // The token ran out: it is refused, and the replication says with what it tried.
        gate.token.withLock { $0 = "new" }
        try hub.put("late", ["n": 1])
        let error = await #expect(throws: PeerError.self) { try await replicator.run() }
        #expect(error?.code == .unauthorized && error?.message.contains("OAuth 1 with the key 'app'") == true)
        replicator.configuration = try pull("new")
        let result = try await replicator.run()
        #expect(result.counts.changesRead == 1 && result.counts.resyncs == 0)
        #expect(try notes.document("late") != nil)
    }
}

/// Lets requests through that are signed with the present token, as a gate in front of a server does.
private final class TokenGate: HTTPClient {
    let token: Guarded<String>
    private let client: any HTTPClient
    private let user: String

    init(_ client: any HTTPClient, token: String, user: String) {
        self.client = client
        self.token = Guarded(token)
        self.user = user
    }

    func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        var request = request
        let signed = request.headers["Authorization"] ?? ""
        let isRight = signed.hasPrefix("OAuth ") && signed.contains("oauth_token=\"\(token.withLock(\.self))\"")
        request.headers["Authorization"] = isRight ? user : nil
        return try await client.send(request)
    }
}

extension HTTPURL {
    /// Its user and password as a header has them.
    fileprivate var withBasic: String {
        "Basic " + Base64.encode(Array("\(user ?? ""):\(password ?? "")".utf8))
    }
}
