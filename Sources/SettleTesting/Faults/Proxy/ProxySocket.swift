internal import SettlePlatform

/// One end of a non-blocking connection, with its input buffer. Used by one thread at a time.
final class ProxySocket {
    /// The size of the input buffer in bytes: more than the longest head.
    static let room = 2 * MessageHead.longest

    private let descriptor: Int32
    /// The received bytes that were not used yet.
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

    /// The events for `poll`; the end of the connection is included, unless it is already known.
    func polled(isWriting: Bool) -> pollfd {
        let events = (isReading ? Int16(POLLIN) : 0) | (isWriting && !isBroken ? Int16(POLLOUT) : 0)
        let isWatched = isOpen && (events != 0 || !isBroken)
        return pollfd(fd: isWatched ? descriptor : -1, events: events, revents: 0)
    }

    /// Reads the input that `poll` reported.
    func take(_ polled: pollfd) {
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
