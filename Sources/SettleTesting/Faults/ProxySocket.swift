internal import SettlePlatform

/// One end of a non-blocking connection, with its input buffer. Used by one thread at a time.
final class ProxySocket {
    /// The size of the input buffer in bytes: more than the longest head.
    static let room = 2 * MessageHead.longest

    private let descriptor: Int32
    /// The received bytes that were not processed yet.
    var input = ByteQueue()
    /// Whether the peer has finished sending.
    private(set) var hasEnded = false
    /// Whether sending is no longer possible.
    private(set) var isBroken = false
    private var isOpen = true
    private var hasFinishedSending = false

    /// Takes ownership of an open socket.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        Loopback.prepare(descriptor)
        Loopback.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
    }

    deinit { end(by: .close) }

    /// Sends as much as is possible without blocking, and returns the number of bytes.
    func send(_ bytes: ArraySlice<UInt8>) -> Int {
        guard isOpen, !isBroken, !bytes.isEmpty else { return 0 }
        let count = bytes.withUnsafeBytes { Sockets.send(descriptor, $0) }
        if count >= 0 { return count }
        if errno != EAGAIN, errno != EINTR { isBroken = true }
        return 0
    }

    /// Shuts down the sending direction.
    func finishSending() {
        guard !hasFinishedSending else { return }
        hasFinishedSending = true
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Ends the connection.
    func end(by ending: Fault.Ending) {
        guard isOpen else { return }
        isOpen = false
        switch ending {
        case .close:
            // Unread input would turn the close into a reset.
            for _ in 0..<16 where !hasEnded {
                input.removeAll()
                let isEmpty = !receive()
                if isEmpty { break }
            }
        case .reset:
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        input.removeAll()
        Sockets.close(descriptor)
    }

    /// Whether the input buffer has room.
    private var isReading: Bool { !hasEnded && input.count < Self.room }

    /// The events for `poll`; they include the end of the connection, unless it is already known.
    func polled(isWriting: Bool) -> pollfd {
        let events = (isReading ? Int16(POLLIN) : 0) | (isWriting && !isBroken ? Int16(POLLOUT) : 0)
        let isWatched = isOpen && (events != 0 || !isBroken)
        return pollfd(fd: isWatched ? descriptor : -1, events: events, revents: 0)
    }

    /// Reads the input that `poll` reported.
    func handle(_ polled: pollfd) {
        let isOver = polled.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
        if isReading, isOver || polled.revents & Int16(POLLIN) != 0 {
            receive()
        } else if isOver {
            isBroken = true
        }
    }

    /// Reads available input, and returns whether there was any.
    @discardableResult
    private func receive() -> Bool {
        var piece = [UInt8](repeating: 0, count: min(1 << 16, max(1, Self.room - input.count)))
        let count = recv(descriptor, &piece, piece.count, 0)
        if count > 0 { input.append(piece.prefix(count)) }
        if count == 0 { hasEnded = true }
        if count < 0, errno != EAGAIN, errno != EINTR { (hasEnded, isBroken) = (true, true) }
        return count > 0
    }
}

// MARK: - ByteQueue

/// A queue of bytes.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }
    /// The queued bytes, oldest first.
    var waiting: ArraySlice<UInt8> { bytes[start...] }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// Removes the first bytes.
    mutating func drop(_ count: Int) {
        start += count
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 1 << 16 {
            bytes.removeFirst(start)
            start = 0
        }
    }

    mutating func removeAll() { drop(count) }
}

// MARK: - Loopback

/// System calls for TCP on the loopback interface, where systems differ or calls are long.
enum Loopback {
    /// Creates a socket bound to a port of 127.0.0.1; for 0 the system chooses the port.
    static func bound(to port: Int) throws(FaultProxyError) -> Int32 {
        let descriptor = try made()
        set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        set(descriptor, SOL_SOCKET, SO_REUSEPORT)
        let code = withAddress(port) { bind(descriptor, $0, $1) }
        guard code == 0 else {
            let error = FaultProxyError("bind")
            Sockets.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// The port of a bound socket.
    static func port(of descriptor: Int32) throws(FaultProxyError) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0 else { throw FaultProxyError("getsockname") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Connects to a port; `nil` if that does not succeed within some seconds, or if a signal is raised.
    static func connect(to port: Int, _ signal: ProxySignal) -> ProxySocket? {
        guard let descriptor = try? made() else { return nil }
        let socket = ProxySocket(descriptor)
        let code = withAddress(port) { Sockets.connect(descriptor, to: $0, $1) }
        if code == 0 { return socket }
        guard errno == EINPROGRESS || errno == EINTR else { return nil }
        var polled = [
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
        ]
        guard poll(&polled, 2, 10_000) > 0, polled[0].revents == 0 else { return nil }
        var problem: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &length)
        return problem == 0 ? socket : nil
    }

    /// Accepts the next connection of a listening socket; `nil` if no connection waits.
    static func accepted(by listener: Int32) -> Int32? {
        let descriptor = Sockets.accept(listener)
        return descriptor < 0 ? nil : descriptor
    }

    /// Prepares a socket: non-blocking, and without signals.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        set(descriptor, SOL_SOCKET, SO_NOSIGPIPE)
        #endif
    }

    /// Turns a socket option on.
    static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32) {
        var value: Int32 = 1
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func made() throws(FaultProxyError) -> Int32 {
        let descriptor = Sockets.make(AF_INET)
        guard descriptor >= 0 else { throw FaultProxyError("socket") }
        prepare(descriptor)
        return descriptor
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}

// MARK: - Poll

extension ContinuousClock.Instant {
    /// The timeout of `poll` until this moment: never too short, and at most a minute.
    var milliseconds: Int32 {
        let (seconds, fraction) = ContinuousClock.now.duration(to: self).components
        if seconds < 0 || fraction < 0 { return 0 }
        return seconds >= 60 ? 60_000 : Int32(seconds * 1000 + fraction / 1_000_000_000_000_000) + 1
    }
}
