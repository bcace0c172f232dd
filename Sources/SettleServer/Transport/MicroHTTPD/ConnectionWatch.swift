internal import CMicroHTTPD

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Cuts connections off whose requests come too slowly.
///
/// The library's own limit begins anew with each byte, so a client that sends one now and then would stay for ever. Here a
/// header has to be complete within the idle limit, and of a body there has to come a piece within each.
final class ConnectionWatch: Sendable {
    /// How far a request is.
    enum Progress {
        /// Its header is not complete.
        case header
        /// So many bytes of its body are there, and more are wanted.
        case body(Int64)
        /// It is not the client who is waited for.
        case answering
    }

    private struct Watched {
        let number: Int
        let socket: Int32
        var exchange: MicroHTTPDExchange?
        var since = ContinuousClock.now
        var received: Int64 = 0
    }

    private struct State {
        var connections: [OpaquePointer: Watched] = [:]
        var opened = 0
        var isStopped = false
    }

    private let state = Monitor(State())
    private let limit: Double
    /// How much of a body has to come within the limit.
    private static let leastProgress: Int64 = 16 * 1024

    init(limit: Int) { self.limit = Double(limit) }

    /// Begins to look after connections on a thread of its own, unless there is no limit.
    func start(on pool: WorkerPool) {
        guard limit > 0 else { return }
        pool.submit { [self] in
            while state.wait(seconds: limit / 4, for: { $0.isStopped ? true : nil }) == nil { look() }
        }
    }

    /// Ends the thread.
    func stop() { state.update { $0.isStopped = true } }

    /// Says that there is a connection.
    func open(_ connection: OpaquePointer) {
        let socket = settle_mhd_socket(connection)
        state.withLock { state in
            state.opened += 1
            state.connections[connection] = Watched(number: state.opened, socket: socket)
        }
    }

    /// Says that a connection is about to be closed; its socket is not touched any more.
    func close(_ connection: OpaquePointer) { state.withLock { _ = $0.connections.removeValue(forKey: connection) } }

    /// Says which request a connection has now, or that it waits for the next one.
    func set(_ exchange: MicroHTTPDExchange?, of connection: OpaquePointer) {
        state.withLock { state in
            state.connections[connection]?.exchange = exchange
            guard exchange == nil else { return }
            state.connections[connection]?.since = .now
            state.connections[connection]?.received = 0
        }
    }

    private func look() {
        let now = ContinuousClock.now
        for (connection, watched) in state.withLock({ $0.connections }) {
            let isLate = now - watched.since >= .seconds(limit)
            switch watched.exchange?.progress ?? .header {
            case .header: if isLate { cut(connection, watched) }
            case .body(let received):
                if received - watched.received >= Self.leastProgress {
                    renew(connection, watched, received)
                } else if isLate {
                    cut(connection, watched)
                }
            case .answering: renew(connection, watched, 0)
            }
        }
    }

    private func renew(_ connection: OpaquePointer, _ watched: Watched, _ received: Int64) {
        state.withLock { state in
            guard state.connections[connection]?.number == watched.number else { return }
            state.connections[connection]?.since = .now
            state.connections[connection]?.received = received
        }
    }

    private func cut(_ connection: OpaquePointer, _ watched: Watched) {
        state.withLock { state in
            guard let current = state.connections[connection], current.number == watched.number,
                current.since == watched.since
            else { return }
            shutdown(current.socket, Int32(SHUT_RDWR))
        }
    }
}
