internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// Something that happens once, and that any number of threads can wait for with `poll`.
///
/// A byte in a pipe that nobody takes out.
final class ProxySignal: Sendable {
    /// Can be read from once it has happened.
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

    /// Lets it happen.
    func raise() {
        isRaised.withLock { isRaised in
            guard !isRaised else { return }
            isRaised = true
            _ = write(writer, "!", 1)
        }
    }

    /// Waits until it happens or a time comes; says whether it happened.
    func wait(until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let code = poll(&polled, 1, deadline.milliseconds)
            if code > 0 { return true }
            if code == 0, ContinuousClock.now >= deadline { return false }
        }
    }
}
