internal import SettleDatabase
internal import SettlePlatform

/// Knows all connections, cuts those off whose requests come too slowly, and ends feeds whose clients have gone.
///
/// The library's own limit begins anew with each byte, so a client that sends one now and then would stay for ever. Here a
/// header has to be complete within the idle limit, and of a body there has to come a piece within each.
///
/// Of a connection that waits for something to send, the library does not look at the socket. A feed without heartbeats would
/// keep its database open for a minute after its client has gone.
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

    /// Begins to look after connections on a thread of its own. Without a limit no request is too slow.
    func start(on pool: WorkerPool) {
        let pause = limit > 0 ? min(limit / 4, 1) : 1
        pool.submit { [self] in
            while state.wait(seconds: pause, for: { $0.isStopped ? true : nil }) == nil {
                let (now, connections) = (ContinuousClock.now, connections)
                if limit > 0 { for connection in connections { connection.look(now, limit: limit) } }
                endAbandoned(connections)
            }
        }
    }

    /// Ends the answers that wait for something to send and whose clients have gone. An answer that is still being made only gets a
    /// notice, because its client may have closed only its half of the connection. A socket may be closed meanwhile, and its
    /// number belong to another connection; then the exchange that is ended here is over already.
    private func endAbandoned(_ connections: [MicroHTTPDConnection]) {
        let waiting = connections.compactMap(\.waiting)
        for place in Sockets.closedByPeer(waiting.map(\.socket)) {
            let exchange = waiting[place].exchange
            if exchange.isWaitingToSend { exchange.stop(isForced: true) } else { exchange.abandon() }
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
