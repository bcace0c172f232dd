import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleServer
import SettleTesting
import Testing

@testable import SettleReplication

/// The user of a replication, how it is shown, and the replication's checkpoint.
@Suite(.timeLimit(.minutes(5))) struct CredentialsInReplicationTests {
    private static let secret = "p%40ss-w0rd"

    private static func keys(_ token: String) -> ReplicationCredentials {
        .oauth1(OAuth1(consumerKey: "app", consumerSecret: "s1", token: token, tokenSecret: "s2"))
    }

    private func makeServer() throws -> LiveServer { try LiveServer { $0.security.admins["anna"] = "p@ss-w0rd" } }

    // SEMANTICS 135
    @Test func `credentials of the URL are used, and shown nowhere`() async throws {
        let server = try makeServer()
        _ = try DocumentStore(path: server.folder.path).create("hub")
        let logged = Guarded<[String]>([])
        var options = DatabaseOptions()
        options.warn = { message in logged.withLock { $0.append(message) } }
        let notes = try Database.inMemory(options: options)
        defer { notes.close() }
        try notes.put("a", ["n": 1])
        let right = try CouchDBPeer(server.url("hub", credentials: "anna:\(Self.secret)@"))
        let wrong = try CouchDBPeer(server.url("hub", credentials: "anna:\(Self.secret)-not@"))
        let replicator = OneWayReplicator(.push(notes, to: right))
        let events = Guarded<[String]>([])
        let stream = replicator.events
        let listening = Task { for await event in stream { events.withLock { $0.append("\(event)") } } }
        let result = try await replicator.run()
        #expect(result.counts.revisionsWritten == 1)
        let failing = OneWayReplicator(.push(notes, to: wrong))
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
        // Another password is the same replication, another user is another replication.
        let id = try await replicator.configuration.replicationID()
        #expect(try await failing.configuration.replicationID() == id)
        let other = try CouchDBPeer(server.url("hub"))
        #expect(try await ReplicationConfiguration.push(notes, to: other).replicationID() != id)
    }

    // SEMANTICS 137
    @Test func `a password over an unencrypted connection is warned about, once per peer`() throws {
        let warnings = Guarded<[String]>([])
        for url in ["http://anna:hunter2@couch.example/db", "https://anna:hunter2@couch.example/db"] {
            _ = try CouchDBPeer(HTTPURL(url)) { message in warnings.withLock { $0.append(message) } }
        }
        let told = warnings.withLock(\.self)
        #expect(told == ["basic authentication as 'anna' goes to couch.example in the open: use https"])
    }

    // SEMANTICS 137
    @Test func `without a handler the database gets the warning, and the replication prints it`() async throws {
        let logged = Guarded<[String]>([])
        var options = DatabaseOptions()
        options.journal = true
        options.warn = { message in logged.withLock { $0.append(message) } }
        let notes = try Database.inMemory(options: options)
        defer { notes.close() }
        let told = "basic authentication as 'anna' goes to couch.example in the open: use https"
        func run(_ peer: CouchDBPeer) async throws -> [ReplicationWarning] {
            var configuration = ReplicationConfiguration.push(notes, to: peer)
            configuration.retry.attempts = 1
            let replicator = OneWayReplicator(configuration)
            let events = replicator.events
            await #expect(throws: PeerError.self) { try await replicator.run() }
            for await case .warning(let warning) in events { return [warning] }
            return []
        }
        let open = try CouchDBPeer(HTTPURL("http://anna:hunter2@couch.example/db"), client: NoNetwork())
        let warnings = try await run(open)
        #expect(warnings.map(\.kind) == [.credentialsInTheOpen] && warnings.map(\.message) == [told])
        #expect(logged.withLock(\.self) == [told])
        _ = try OfflineSession(notes, server: open)
        #expect(logged.withLock(\.self) == [told, told])
        // If an app listens, or the connection can't be eavesdropped, the database does not warn.
        let heard = Guarded<[String]>([])
        let own = try CouchDBPeer(HTTPURL("http://anna:hunter2@couch.example/db"), client: NoNetwork()) { message in
            heard.withLock { $0.append(message) }
        }
        for peer in [
            own, try CouchDBPeer(HTTPURL("https://anna:hunter2@couch.example/db"), client: NoNetwork()),
            try CouchDBPeer(HTTPURL("http://couch.example/db"), client: NoNetwork()),
            try CouchDBPeer(HTTPURL("http://anna:hunter2@localhost:1/db"), client: NoNetwork()),
        ] {
            await #expect(throws: PeerError.self) { try await OneWayReplicator(.push(notes, to: peer)).run() }
        }
        #expect(logged.withLock(\.self).count == 2 && heard.withLock(\.self) == [told])
    }

    // SEMANTICS 138
    @Test func `a running, stored replication takes new tokens, and stores them with its checkpoint`() async throws {
        let server = try makeServer()
        let hub = try DocumentStore(path: server.folder.path).create("hub")
        let folder = try TemporaryFolder()
        var notes = try Database.openOrCreate(folder("notes.settle"))
        let gate = TokenGate(DefaultTransport(), token: "old", user: try server.url().withBasic)
        for number in 0..<5 { try hub.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let peer = try CouchDBPeer(server.url("hub", credentials: ""), credentials: Self.keys("old"), client: gate)
        var configuration = ReplicationConfiguration.pull(notes, from: peer)
        configuration.isContinuous = true
        configuration.retry.firstDelay = .milliseconds(1)
        let pull = try await notes.replications.replicator(configuration)
        let name = try await notes.replications.persist(pull, storesCredentials: true)
        pull.start()
        await pull.waits { $0.mode == .idle }
        // The old token expires while the replication waits.
        gate.tokens.withLock { $0 = ["old", "new"] }
        try await notes.replications.renewPersistent(name, Self.keys("new"))
        gate.tokens.withLock { $0 = ["new"] }
        try hub.put("late", ["n": 1])
        for try await document in notes.observe("late") where document != nil { break }
        #expect(pull.status.error == nil && pull.status.counts.resyncs == 0)
        await pull.stop()
        #expect(try notes.replications.persistent().map(\.hasPassword) == [true])
        notes.close()

        notes = try Database.openOrCreate(folder("notes.settle"))
        try hub.put("later", ["n": 1])
        let resumed = try await notes.replications.resume(client: gate)
        for try await document in notes.observe("later") where document != nil { break }
        #expect(resumed.first?.status.counts.changesRead == 1)
        let other = try #require(try notes.replications.persistent().first?.name)
        await #expect(throws: PeerError.self) {
            try await notes.replications.renewPersistent(other, .basic(user: "eve", password: "x"))
        }
        await #expect(throws: PeerError.self) { try await notes.replications.renewPersistent("none", Self.keys("new")) }
        await notes.replications.removeAll()
        notes.close()
    }

    // SEMANTICS 138
    @Test(arguments: ["token", "login"])
    func `a request or a login that is refused because it was replaced meanwhile is sent with what replaced it`(
        kind: String
    ) async throws {
        let server = try makeServer()
        _ = try DocumentStore(path: server.folder.path).create("hub")
        @Sendable func credentials(isRight: Bool) -> ReplicationCredentials {
            kind == "token"
                ? Self.keys(isRight ? "new" : "old") : .session(user: "anna", password: isRight ? "p@ss-w0rd" : "old")
        }
        for isRight in [true, false] {
            let gate = TokenGate(DefaultTransport(), token: "new", user: try server.url().withBasic)
            let peer = try CouchDBPeer(
                server.url("hub", credentials: ""), credentials: credentials(isRight: false), client: gate)
            gate.onSend.withLock { $0 = { try peer.renew(credentials(isRight: isRight)) } }
            do {
                _ = try await peer.connect()
                #expect(isRight)
            } catch let error as PeerError { #expect(!isRight && error.code == .unauthorized, "\(error)") }
        }
    }

    @Test func `headers of a peer are sent to its server alone, and stored with its credentials`() async throws {
        let server = try OddServer { request in
            request.head.contains("\r\nX-Gate: hush\r\n") ? .init(200, "{\"update_seq\":0}") : .init(403, "{}")
        }
        var options = CouchDBPeerOptions()
        options.headers = ["X-Gate": "hush"]
        let peer = try CouchDBPeer(HTTPURL(server.url + "/db"), options: options)
        #expect(try await peer.connect().lastSequence == PeerSequence(0))
        await #expect(throws: PeerError.self) {
            try await CouchDBPeer(HTTPURL(server.url + "/db")).connect()
        }
        var shown = "\(options)"
        dump(peer, to: &shown)
        #expect(!shown.contains("hush"))
        let notes = try Database.inMemory()
        defer { notes.close() }
        let push = try await notes.replications.replicator(.push(notes, to: peer))
        for isKept in [false, true] {
            try await notes.replications.persist(push, storesCredentials: isKept)
            let stored = try notes.localDocument("_local/settle-replications")?.body.json.description
            #expect(stored?.contains("hush") == isKept)
        }
        let name = try #require(try notes.replications.persistent().first?.name)
        await notes.replications.remove(push)
        #expect(name.count == 32)
    }

    // SEMANTICS 138
    @Test func `new OAuth tokens replace old ones, and the checkpoint stays`() async throws {
        let server = try makeServer()
        let hub = try DocumentStore(path: server.folder.path).create("hub")
        let notes = try Database.inMemory()
        defer { notes.close() }
        for number in 0..<20 { try hub.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let gate = TokenGate(DefaultTransport(), token: "old", user: try server.url().withBasic)
        func pull(_ token: String) throws -> ReplicationConfiguration {
            .pull(
                notes,
                from: try CouchDBPeer(
                    server.url("hub", credentials: ""), credentials: Self.keys(token), client: gate))
        }
        let replicator = try await notes.replications.replicator(pull("old"))
        #expect(try await replicator.run().counts.changesRead == 20)
        // The token has expired: it is rejected, and the error names the credentials tried.
        gate.tokens.withLock { $0 = ["new"] }
        try hub.put("late", ["n": 1])
        let error = await #expect(throws: PeerError.self) { try await replicator.run() }
        #expect(error?.code == .unauthorized && error?.message.contains("OAuth 1 with the key 'app'") == true)
        replicator.configuration = try pull("new")
        let result = try await replicator.run()
        #expect(result.counts.changesRead == 1 && result.counts.resyncs == 0)
        #expect(try notes.document("late") != nil)
    }
}

/// A gateway in front of a server that accepts only requests signed with current tokens.
private final class TokenGate: HTTPTransport {
    let tokens: Guarded<Set<String>>
    /// Called once, after the next request was signed.
    let onSend = Guarded<(@Sendable () throws -> Void)?>(nil)
    private let client: any HTTPTransport
    private let user: String

    init(_ client: any HTTPTransport, token: String, user: String) {
        self.client = client
        tokens = Guarded([token])
        self.user = user
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let onSend = onSend.withLock { onSend in
            defer { onSend = nil }
            return onSend
        }
        try onSend?()
        var request = request
        let signed = request.headers["Authorization"] ?? ""
        let isKnown = tokens.withLock(\.self).contains { signed.contains("oauth_token=\"\($0)\"") }
        let isRight = signed.hasPrefix("OAuth ") && isKnown
        request.headers["Authorization"] = isRight ? user : nil
        return try await client.send(request)
    }
}

extension HTTPURL {
    /// Its user and password in the form of a header.
    fileprivate var withBasic: String {
        "Basic " + Base64.encode(Array("\(user ?? ""):\(password ?? "")".utf8))
    }
}
