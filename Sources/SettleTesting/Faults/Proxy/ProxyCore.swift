internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// The shared state of a proxy and its threads. The threads hold it instead of the proxy, so that the proxy can be
/// released.
final class ProxyCore: Sendable {
    private struct State {
        var season: ProxySeason?
        /// The number of outages: a timed outage brings the proxy back only if it is the latest one.
        var outages = 0
        var connections = 0
        var isStopped = false
    }

    let serverPort: Int
    let port: Int
    let ledger: FaultLedger
    /// Bound but not listening: it reserves the port while the proxy is down.
    private let placeholder: Int32
    private let life: ProxySignal
    private let deadline: ContinuousClock.Instant
    private let connectionLimit: Int
    private let threads = ProxyThreads()
    private let state = Guarded(State())

    init(
        serverPort: Int, ledger: FaultLedger, connectionLimit: Int, lifetime: Duration
    ) throws(FaultProxyError) {
        self.serverPort = serverPort
        self.ledger = ledger
        self.connectionLimit = max(1, connectionLimit)
        deadline = .now + lifetime
        life = try ProxySignal()
        placeholder = try Loopback.bound(to: 0)
        do { port = try Loopback.port(of: placeholder) } catch {
            Sockets.close(placeholder)
            throw error
        }
    }

    deinit { Sockets.close(placeholder) }

    /// Whether the connection limit is reached.
    var isFull: Bool { threads.count >= connectionLimit }

    /// Starts to listen, unless it is listening or stopped.
    func comeUp() throws(FaultProxyError) { try comeUp { _ in true } }

    private func comeUp(if isWanted: (Int) -> Bool) throws(FaultProxyError) {
        let result = state.withLock { state -> Result<Void, FaultProxyError> in
            guard state.season == nil, !state.isStopped, isWanted(state.outages) else { return .success(()) }
            return Result { () throws(FaultProxyError) in
                state.season = try ProxySeason(self, port: port, until: deadline)
            }
        }
        try result.get()
    }

    /// Refuses new connections and cuts existing ones; returns the number of this outage.
    @discardableResult
    func goDown() -> Int {
        let (season, number) = state.withLock { state in
            defer { state.season = nil }
            state.outages += 1
            return (state.season, state.outages)
        }
        season?.end()
        return number
    }

    /// Goes down, runs a closure, and comes back after a time, unless another call changed the state meanwhile.
    func goDown(for time: Duration, then body: () -> Void) {
        let number = goDown()
        body()
        guard !life.wait(until: .now + time) else { return }
        // If the system refuses it, the server stays down for clients.
        try? comeUp { $0 == number }
    }

    /// Ends everything, including all threads, before it returns.
    func stop() {
        expire()
        goDown()
        threads.joinAll()
    }

    /// Ends everything without waiting for the threads.
    func expire() {
        life.raise()
        state.withLock { state in
            state.isStopped = true
            state.season?.signal.raise()
        }
    }

    /// Serves a new connection on a new thread.
    func serve(_ descriptor: Int32, _ signal: ProxySignal) {
        let number = state.withLock { state in
            defer { state.connections += 1 }
            return state.connections
        }
        do {
            try threads.start { [self] in
                ProxyConnection(number, ProxySocket(descriptor), self, signal).run()
            }
        } catch {
            // Without a thread the connection can't be served.
            Sockets.close(descriptor)
        }
    }
}
