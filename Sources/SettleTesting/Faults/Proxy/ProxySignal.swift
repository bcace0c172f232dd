internal import Settle
internal import SettleDatabase
internal import SettlePlatform

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
