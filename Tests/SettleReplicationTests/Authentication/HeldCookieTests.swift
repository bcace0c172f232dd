import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleServer
import SettleTesting
import Testing

@testable import SettleReplication

/// Cookies that an app obtained.
@Suite(.timeLimit(.minutes(5))) struct HeldCookieTests {
    private func logIn(_ user: String, at server: LiveServer) async throws -> String {
        let login = SessionLogin(
            server: try server.url(credentials: ""), user: user, password: "secret-word", client: DefaultTransport())
        return try await login.cookie(now: 0).text
    }

    // SEMANTICS 139
    @Test func `a cookie is sent until it expires or is deleted`() {
        let cookie = HeldCookie("abc", end: 1000)
        #expect(cookie.text(now: 999) == "abc")
        #expect(cookie.text(now: 1000) == nil && cookie.text(now: 10) == nil)
        cookie.set("def")
        #expect(cookie.text(now: 5000) == "def")
        cookie.delete()
        #expect(cookie.text(now: 0) == nil)
        cookie.renew(RenewedSecret.Secret(text: "late", end: nil))
        #expect(cookie.text(now: 0) == nil)
        cookie.set("hunter2")
        var text = "\(cookie) \(ReplicationCredentials.cookie(cookie))"
        dump(cookie, to: &text)
        #expect(!text.contains("hunter2"))
    }

    // SEMANTICS 139
    @Test func `a changed cookie takes effect on a running replication`() async throws {
        let server = try LiveServer { $0.security.admins["anna"] = "secret-word" }
        let hub = try DocumentStore(path: server.folder.path).create("hub")
        let notes = try Database.inMemory()
        defer { notes.close() }
        let sent = SeenCookies(DefaultTransport())
        let (first, second) = (try await logIn("admin", at: server), try await logIn("anna", at: server))
        let cookie = HeldCookie(first)
        let peer = try CouchDBPeer(server.url("hub", credentials: ""), credentials: .cookie(cookie), client: sent)
        var configuration = ReplicationConfiguration.push(notes, to: peer)
        configuration.isContinuous = true
        configuration.usesCheckpoints = false
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        try notes.put("a", ["n": 1])
        try await replicator.waits { _ in try hub.document("a") != nil }
        #expect(sent.all == [first])
        await replicator.waits { $0.mode == .idle && $0.counts.revisionsWritten == 1 }
        cookie.set(second)
        sent.forget()
        try notes.put("b", ["n": 1])
        try await replicator.waits { _ in try hub.document("b") != nil }
        #expect(sent.all == [second])
        cookie.delete()
        try notes.put("c", ["n": 1])
        let end = await replicator.waits { $0.mode == .stopped }
        #expect(end.error?.code == .unauthorized)
        #expect(try hub.document("c") == nil)
    }
}

/// A client that records the cookies it sends.
private final class SeenCookies: HTTPTransport {
    private let client: any HTTPTransport
    private let seen = Guarded<Set<String>>([])

    init(_ client: any HTTPTransport) { self.client = client }

    var all: Set<String> { seen.withLock(\.self) }

    func forget() { seen.withLock { $0 = [] } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        if let cookie = request.headers["Cookie"] {
            seen.withLock { _ = $0.insert(String(cookie.dropFirst("AuthSession=".count))) }
        }
        return try await client.send(request)
    }
}
