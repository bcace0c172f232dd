import CEpoll
import Glibc

/// Wakes connections whose sockets are ready, by `epoll`, and those who sleep.
///
/// There is no library and no thread per connection, because the tool shares two cores with the server that it
/// measures: ten thousand waiting connections cost it nothing.
@Loop
final class Poller {
    static let shared = Poller()
    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    /// By descriptor.
    private var connections: [Connection?] = []
    private var sleepers = Sleepers()
    private var events = [epoll_event](repeating: epoll_event(), count: 1024)

    /// Has a connection's `advance` called whenever its socket may have become readable or writable.
    func add(_ connection: Connection, socket: Int32) {
        while connections.count <= Int(socket) { connections.append(nil) }
        connections[Int(socket)] = connection
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        event.data.fd = socket
        epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event)
    }

    /// Forgets a socket, and closes it.
    func remove(socket: Int32) {
        connections[Int(socket)] = nil
        close(socket)
    }

    func sleep(_ seconds: Double) async {
        guard seconds > 0 else { return }
        let moment = Moment.now + seconds
        await withUnsafeContinuation { sleepers.add(moment, $0) }
    }

    /// Waits for the next event if it may, and lets everybody go on whom an event or the time concerns.
    func poll(mayWait: Bool) {
        let now = Moment.now
        var wait = 0.0
        if mayWait { wait = min(1, max(0, (sleepers.next ?? now + 1) - now)) }
        let count = epoll_wait(epoll, &events, Int32(events.count), Int32((wait * 1000).rounded(.up)))
        for index in 0..<max(0, Int(count)) { connections[Int(events[index].data.fd)]?.advance() }
        sleepers.wake(until: Moment.now)
    }
}

/// Moments as seconds of the clock that only goes forward.
enum Moment {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
