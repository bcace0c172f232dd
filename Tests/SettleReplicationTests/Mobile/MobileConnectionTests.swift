import Dispatch
import Settle
import SettleHTTP
import SettleMobile
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// The connection of a peer, when it is lost, refused, or opened with other credentials.
@Suite(.timeLimit(.minutes(5))) struct MobileConnectionTests {
    /// A server in this process that has the collection and an empty checkpoint.
    private final class Endpoint: Sendable {
        private struct State {
            var attempts = 0
            var refused: Set<Int> = []
            var gate: Barrier?
            var client: BLIPConnection?
            var server: BLIPConnection?
        }

        private let queue = DispatchQueue(label: "endpoint")
        private let state = Guarded(State())

        /// The number of connections that were asked for.
        var attempts: Int { state.withLock(\.attempts) }

        /// Refuses the connections of some numbers, counted from 1, after the gate is open.
        func refuse(_ numbers: Set<Int>, after gate: Barrier? = nil) {
            state.withLock { ($0.refused, $0.gate) = (numbers, gate) }
        }

        /// Ends the last connection, as if its socket had closed.
        func lose() { state.withLock(\.client)?.end() }

        /// Moves the bytes, later.
        func ring() { queue.async { self.move() } }

        /// Connects a client, or refuses it.
        func connect(_ client: BLIPConnection) async throws {
            let server = BLIPConnection(
                isServer: true, limits: BLIPLimits(), handler: { [self] in answer($0) }, wake: { [self] in ring() })
            let (isRefused, gate) = state.withLock { state in
                state.attempts += 1
                return (state.refused.contains(state.attempts), state.gate)
            }
            if isRefused {
                await gate?.pass()
                throw PeerError(.unreachable, "the network is down")
            }
            state.withLock { ($0.client, $0.server) = (client, server) }
            ring()
        }

        private func answer(_ message: BLIPMessage) {
            let body = message.profile == "getCollections" ? "[{}]" : "{}"
            let server = state.withLock(\.server)
            server?.respond(to: message, with: BLIPMessage(body: Array(body.utf8)))
        }

        private func move() {
            let (client, server) = state.withLock { ($0.client, $0.server) }
            guard let client, let server else { return }
            do {
                while let bytes = try client.nextOutput() { try bytes.withUnsafeBytes(server.receive) }
                while let bytes = try server.nextOutput() { try bytes.withUnsafeBytes(client.receive) }
            } catch { client.close(1002) }
        }
    }

    private let endpoint = Endpoint()
    private let peer: MobilePeer

    init() throws {
        peer = try MobilePeer(
            PeerAddress("ws://localhost/db"), credentials: .basic(user: "anna", password: "old"),
            client: DefaultTransport(TransportOptions()),
            opener: MobileOpener { [endpoint] _, _, make in
                let client = make { endpoint.ring() }
                try await endpoint.connect(client)
                return client
            })
    }

    @Test func `after a reconnection that failed the next call connects again`() async throws {
        _ = try await peer.connect()
        endpoint.lose()
        endpoint.refuse([2])
        await #expect(throws: PeerError.self) { _ = try await peer.connect() }
        _ = try await peer.connect()
        #expect(endpoint.attempts == 3)
        await peer.close()
    }

    @Test func `a header that would end its line is refused before anything is sent`() async throws {
        let peer = try MobilePeer(
            PeerAddress("ws://127.0.0.1:1/db"), client: DefaultTransport(TransportOptions()),
            headers: ["X-Team": "a\r\nX-Admin: yes"])
        let error = await #expect(throws: PeerError.self) { _ = try await peer.connect() }
        #expect(error?.code == .badRequest)
    }

    @Test func `a connection that is refused because the password was replaced meanwhile is opened with the new one`()
        async throws
    {
        let renewed = Guarded<MobilePeer?>(nil)
        let sent = Guarded<[String]>([])
        let peer = try MobilePeer(
            PeerAddress("ws://localhost/db"), credentials: .basic(user: "anna", password: "old"),
            client: DefaultTransport(TransportOptions()),
            opener: MobileOpener { [endpoint] request, _, make in
                let passwords = sent.withLock { sent in
                    sent.append(request.headers["Authorization"] ?? "")
                    return sent
                }
                if passwords.count < 3 {
                    if passwords.count == 1 {
                        try renewed.withLock(\.self)?.renew(.basic(user: "anna", password: "new"))
                    }
                    throw PeerError(.unauthorized, "not this password", status: 401)
                }
                let client = make { endpoint.ring() }
                try await endpoint.connect(client)
                return client
            })
        renewed.withLock { $0 = peer }
        // The new password is refused, too, and is not sent again.
        let error = await #expect(throws: PeerError.self) { _ = try await peer.connect() }
        #expect(error?.code == .unauthorized && sent.withLock(\.count) == 2 && Set(sent.withLock(\.self)).count == 2)
        _ = try await peer.connect()
        #expect(sent.withLock(\.count) == 3)
        renewed.withLock { $0 = nil }
        await peer.close()
    }

    @Test func `a call after new credentials does not wait for a connection with the old ones`() async throws {
        let gate = Barrier(count: 2)
        endpoint.refuse([1], after: gate)
        let first = Task { [peer] in _ = try await peer.connect() }
        while endpoint.attempts == 0 { await Task.yield() }
        try peer.renew(.basic(user: "anna", password: "new"))
        _ = try await peer.connect()
        await gate.open()
        await #expect(throws: PeerError.self) { try await first.value }
        #expect(endpoint.attempts == 2)
        _ = try await peer.connect()
        try peer.renew(.basic(user: "anna", password: "newer"))
        _ = try await peer.connect()
        #expect(endpoint.attempts == 2)
        await peer.close()
    }
}
