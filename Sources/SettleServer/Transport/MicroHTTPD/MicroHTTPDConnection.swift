internal import CMicroHTTPD
internal import SettleDatabase
internal import SettlePlatform

/// A connection of the library: who is at its other end, which request it has now, and how that goes on.
final class MicroHTTPDConnection: Sendable {
    private struct State {
        var exchange: MicroHTTPDExchange?
        var since = ContinuousClock.now
        var received: Int64 = 0
        var isOpen = true
    }

    /// The address of the other end, without a port.
    let peer: String
    private let socket: Int32
    private let state = Guarded(State())
    /// How much of a body has to come within the limit.
    private static let leastProgress: Int64 = 16 * 1024

    init(_ connection: OpaquePointer) {
        peer = SocketAddress.name(settle_mhd_peer(connection))
        socket = settle_mhd_socket(connection)
    }

    /// The request it has now.
    var exchange: MicroHTTPDExchange? { state.withLock { $0.exchange } }

    /// Says which request it has now, or that it waits for the next one.
    func set(_ exchange: MicroHTTPDExchange?) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.exchange = exchange
            if exchange == nil { (state.since, state.received) = (now, 0) }
        }
    }

    /// Says that it is about to be closed; its socket is not touched any more.
    func close() { state.withLock { $0.isOpen = false } }

    /// Cuts it off if what is wanted of the client did not come within a limit.
    func look(_ now: ContinuousClock.Instant, limit: Double) {
        let before = state.withLock { $0 }
        let isLate = now - before.since >= .seconds(limit)
        switch before.exchange?.progress ?? .header {
        case .header: if isLate { cut(before) }
        case .body(let received):
            if received - before.received >= Self.leastProgress {
                renew(before, received)
            } else if isLate {
                cut(before)
            }
        case .answering: renew(before, 0)
        }
    }

    private func renew(_ before: State, _ received: Int64) {
        let now = ContinuousClock.now
        state.withLock { if $0.exchange === before.exchange { ($0.since, $0.received) = (now, received) } }
    }

    private func cut(_ before: State) {
        state.withLock { state in
            guard state.isOpen, state.exchange === before.exchange, state.since == before.since else { return }
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }
}
