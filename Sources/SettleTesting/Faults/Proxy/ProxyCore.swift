internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// What a proxy and its threads share. The threads hold it, and not the proxy, so that the proxy can go.
final class ProxyCore: Sendable {
    private struct State {
        var season: ProxySeason?
        /// How often it went down: only the last who took it down by the clock brings it back.
        var outages = 0
        var connections = 0
        var isStopped = false
    }

    let serverPort: Int
    let port: Int
    let ledger: FaultLedger
    /// Bound and never listening: it keeps the port while the proxy is down.
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

    /// Whether no more connections are taken.
    var isFull: Bool { threads.count >= connectionLimit }

    /// Listens, unless it does already or is stopped.
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

    /// Refuses connections and cuts those there are; returns a number for this time.
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

    /// Goes down, does something, and comes back after a time, unless somebody else took it down or up meanwhile.
    func goDown(for time: Duration, then body: () -> Void) {
        let number = goDown()
        body()
        guard !life.wait(until: .now + time) else { return }
        // Should the system refuse it, clients see a server that stays away.
        try? comeUp { $0 == number }
    }

    /// Ends everything; when this returns, all threads have.
    func stop() {
        expire()
        goDown()
        threads.joinAll()
    }

    /// Ends everything, and waits for nothing.
    func expire() {
        life.raise()
        state.withLock { state in
            state.isStopped = true
            state.season?.signal.raise()
        }
    }

    /// Serves a new connection on a thread of its own.
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
            // Without a thread there is no service.
            Sockets.close(descriptor)
        }
    }
}
