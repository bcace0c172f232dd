internal import SettlePlatform

/// One end of a connection that never blocks, with what has been read of it. Used by one thread at a time.
final class ProxySocket {
    /// How much is read ahead, in bytes: more than the longest head.
    static let room = 2 * MessageHead.longest

    private let descriptor: Int32
    /// What came and has not been used.
    var input = ByteQueue()
    /// Whether the peer sends no more.
    private(set) var hasEnded = false
    /// Whether nothing can be sent any more.
    private(set) var isBroken = false
    private var isOpen = true
    private var hasFinishedSending = false

    /// Takes over an open socket.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        Loopback.prepare(descriptor)
        Loopback.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
    }

    deinit { end(by: .close) }

    /// Sends as much as goes now, and returns how many bytes that was.
    func send(_ bytes: ArraySlice<UInt8>) -> Int {
        guard isOpen, !isBroken, !bytes.isEmpty else { return 0 }
        let count = bytes.withUnsafeBytes { Sockets.send(descriptor, $0) }
        if count >= 0 { return count }
        if errno != EAGAIN, errno != EINTR { isBroken = true }
        return 0
    }

    /// Says that nothing more will be sent.
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
            // What came and was not read would turn the end into a reset.
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

    /// Whether there is room for more.
    private var isReading: Bool { !hasEnded && input.count < Self.room }

    /// What `poll` is to look for; the end of the connection is always looked for, unless nothing is left to learn.
    func polled(isWriting: Bool) -> pollfd {
        let events = (isReading ? Int16(POLLIN) : 0) | (isWriting && !isBroken ? Int16(POLLOUT) : 0)
        let isWatched = isOpen && (events != 0 || !isBroken)
        return pollfd(fd: isWatched ? descriptor : -1, events: events, revents: 0)
    }

    /// Reads what `poll` found.
    func take(_ polled: pollfd) {
        let isOver = polled.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
        if isReading, isOver || polled.revents & Int16(POLLIN) != 0 {
            receive()
        } else if isOver {
            isBroken = true
        }
    }

    /// Reads what is there, and returns whether that was something.
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
