internal import SettlePlatform

/// A period in which the proxy is up: its listening socket, and the thread that accepts connections.
struct ProxySeason: Sendable {
    /// Raised when the period ends, which ends its connections.
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
