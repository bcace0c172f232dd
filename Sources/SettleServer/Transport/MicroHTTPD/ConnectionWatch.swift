internal import SettleDatabase
internal import SettlePlatform

/// Knows all connections, and cuts those off whose requests come too slowly.
///
/// The library's own limit begins anew with each byte, so a client that sends one now and then would stay for ever. Here a
/// header has to be complete within the idle limit, and of a body there has to come a piece within each.
final class ConnectionWatch: Sendable {
    /// How far a request is.
    enum Progress {
        /// Its header is not complete.
        case header
        /// The number of bytes of its body that have arrived; more are expected.
        case body(Int64)
        /// It is not the client who is waited for.
        case answering
    }

    private struct State {
        var connections: [ObjectIdentifier: MicroHTTPDConnection] = [:]
        var isStopped = false
    }

    private let state = Monitor(State())
    private let limit: Double

    init(limit: Int) { self.limit = Double(limit) }

    /// Begins to look after connections on a thread of its own, unless there is no limit.
    func start(on pool: WorkerPool) {
        guard limit > 0 else { return }
        pool.submit { [self] in
            while state.wait(seconds: limit / 4, for: { $0.isStopped ? true : nil }) == nil {
                let now = ContinuousClock.now
                for connection in connections { connection.look(now, limit: limit) }
            }
        }
    }

    /// Ends the thread.
    func stop() { state.update { $0.isStopped = true } }

    /// The connections there are.
    var connections: [MicroHTTPDConnection] { state.withLock { Array($0.connections.values) } }

    /// Says that there is a connection.
    func open(_ connection: MicroHTTPDConnection) {
        state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
    }

    /// Says that a connection is about to be closed.
    func close(_ connection: MicroHTTPDConnection) {
        connection.close()
        state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    }
}
