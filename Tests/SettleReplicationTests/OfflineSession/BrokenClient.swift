import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleReplication

/// A client whose network can be switched off.
final class BrokenClient: HTTPTransport {
    private let client: any HTTPTransport
    private let broken = Guarded(false)
    private let losing = Guarded(false)
    private let failingWaits = Guarded(false)
    private let hanging = Guarded(false)

    init(_ client: any HTTPTransport) { self.client = client }

    var isBroken: Bool {
        get { broken.withLock { $0 } }
        set { broken.withLock { $0 = newValue } }
    }

    /// Whether responses to accepted writes are lost.
    var losesAnswers: Bool {
        get { losing.withLock { $0 } }
        set { losing.withLock { $0 = newValue } }
    }

    /// Whether requests that wait for changes lose their connection.
    var failsWaits: Bool {
        get { failingWaits.withLock { $0 } }
        set { failingWaits.withLock { $0 = newValue } }
    }

    /// Whether calls wait until they are cancelled.
    var hangs: Bool {
        get { hanging.withLock { $0 } }
        set { hanging.withLock { $0 = newValue } }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        if isBroken { throw TransportError(.cannotConnect, "the network is down") }
        if hangs {
            try await waitForCancellation()
        }
        if failsWaits, request.url.query?.contains("feed=longpoll") == true {
            throw TransportError(.connectionLost, "nothing came for long")
        }
        let response = try await client.send(request)
        if losesAnswers, request.method == "PUT", response.status < 300 {
            _ = try await response.collect(limit: 1 << 20)
            throw TransportError(.connectionLost, "the answer is lost")
        }
        return response
    }
}
