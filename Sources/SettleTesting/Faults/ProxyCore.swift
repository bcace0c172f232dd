internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// The shared state of a proxy and its threads. The threads refer to it instead of the proxy, so that the proxy can
/// be released.
final class ProxyCore: Sendable {
    private struct State {
        var season: ProxySeason?
        /// The number of outages. A timed outage brings the proxy back only if it is the latest one.
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
        // If the system refuses this, the server stays down for clients.
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

// MARK: - ProxySeason

/// A period in which the proxy is up: its listening socket, and the thread that accepts connections.
struct ProxySeason: Sendable {
    /// Raised at the end of the period, which ends its connections.
    let signal: ProxySignal
    private let thread: SystemThread

    /// Starts to listen at a port; when this returns, clients can connect.
    init(_ core: ProxyCore, port: Int, until deadline: ContinuousClock.Instant) throws(FaultProxyError) {
        let signal = try ProxySignal()
        let listener = try Loopback.bound(to: port)
        guard listen(listener, 128) == 0 else {
            let error = FaultProxyError("listen")
            Sockets.close(listener)
            throw error
        }
        do {
            thread = try SystemThread {
                Self.accept(core, listener, signal, deadline)
                Sockets.close(listener)
                if ContinuousClock.now >= deadline { core.expire() }
            }
        } catch {
            Sockets.close(listener)
            throw FaultProxyError(error.call, error.code)
        }
        self.signal = signal
    }

    /// Ends the period; when this returns, new connections are refused.
    func end() {
        signal.raise()
        thread.join()
    }

    private static func accept(
        _ core: ProxyCore, _ listener: Int32, _ signal: ProxySignal, _ deadline: ContinuousClock.Instant
    ) {
        while ContinuousClock.now < deadline {
            // Connections beyond the limit wait in the system's queue.
            let isFull = core.isFull
            let pause = isFull ? ContinuousClock.now + .milliseconds(20) : deadline
            var polled = [
                pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isFull ? -1 : listener, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&polled, nfds_t(polled.count), min(pause, deadline).milliseconds)
            if polled[0].revents != 0 { return }
            if polled[1].revents != 0, let accepted = Loopback.accepted(by: listener) { core.serve(accepted, signal) }
        }
    }
}

/// A one-time signal that any number of threads can wait for with `poll`.
///
/// It is a byte in a pipe that is never read.
final class ProxySignal: Sendable {
    /// Readable after the signal was raised.
    let descriptor: Int32
    private let writer: Int32
    private let isRaised = Guarded(false)

    init() throws(FaultProxyError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw FaultProxyError("pipe") }
        (descriptor, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    /// Raises the signal.
    func raise() {
        isRaised.withLock { isRaised in
            guard !isRaised else { return }
            isRaised = true
            _ = write(writer, "!", 1)
        }
    }

    /// Waits until the signal is raised, or until a deadline; returns whether it was raised.
    func wait(until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let code = poll(&polled, 1, deadline.milliseconds)
            if code > 0 { return true }
            if code == 0, ContinuousClock.now >= deadline { return false }
        }
    }
}

// MARK: - ProxyThreads

/// Threads that end on their own, and can be joined.
final class ProxyThreads: Sendable {
    private struct State {
        var running: [Int: SystemThread] = [:]
        var ended: [SystemThread] = []
        var next = 0
    }

    private let state = Guarded(State())

    /// The number of running threads.
    var count: Int { state.withLock { $0.running.count } }

    /// Starts a thread.
    func start(_ body: @escaping @Sendable () -> Void) throws(FaultProxyError) {
        joinEnded()
        let result = state.withLock { state -> Result<Void, SystemError> in
            let number = state.next
            state.next += 1
            // The thread takes the lock to record its end, so its start is recorded first.
            return Result { () throws(SystemError) in
                state.running[number] = try SystemThread { [self] in
                    body()
                    recordEnd(of: number)
                }
            }
        }
        do { try result.get() } catch { throw FaultProxyError(error.call, error.code) }
    }

    /// Waits for the end of all threads, including those started meanwhile.
    func joinAll() {
        while true {
            let all = state.withLock { state in
                defer { (state.running, state.ended) = ([:], []) }
                return state.ended + state.running.values
            }
            if all.isEmpty { return }
            for thread in all { thread.join() }
        }
    }

    private func joinEnded() {
        let ended = state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        for thread in ended { thread.join() }
    }

    private func recordEnd(of number: Int) {
        state.withLock { state in
            if let thread = state.running.removeValue(forKey: number) { state.ended.append(thread) }
        }
    }
}
