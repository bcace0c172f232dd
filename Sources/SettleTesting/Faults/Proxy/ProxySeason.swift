internal import Settle
internal import SettleDatabase
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

/// A one-time signal that any number of threads can wait for with `poll`.
///
/// It is a byte in a pipe that is never read.
final class ProxySignal: Sendable {
    /// Readable once the signal is raised.
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

    /// Waits until the signal is raised or a deadline; returns whether it was raised.
    func wait(until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let code = poll(&polled, 1, deadline.milliseconds)
            if code > 0 { return true }
            if code == 0, ContinuousClock.now >= deadline { return false }
        }
    }
}
