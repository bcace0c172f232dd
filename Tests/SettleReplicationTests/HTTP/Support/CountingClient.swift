import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleReplication

/// A client that counts its requests, and can corrupt one cookie.
final class CountingClient: HTTPTransport {
    private struct State {
        var counts: [String: Int] = [:]
        var spoils = false
    }

    private let client: any HTTPTransport
    private let state = Guarded(State())

    init(_ client: any HTTPTransport) { self.client = client }

    /// How many requests were sent to a path.
    func count(_ path: String) -> Int { state.withLock { $0.counts[path] ?? 0 } }

    /// Corrupts the next cookie.
    func spoilCookies() { state.withLock { $0.spoils = true } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        let spoils = state.withLock { state in
            state.counts[request.url.path, default: 0] += 1
            defer { state.spoils = false }
            return state.spoils
        }
        if spoils, request.headers["Cookie"] != nil {
            // It has the right form, and an invalid signature.
            let cookie = Array("admin:00000000:12345678901234567890".utf8)
            request.headers["Cookie"] = "AuthSession=" + Base64.encode(cookie).filter { $0 != "=" }
        }
        return try await client.send(request)
    }
}
