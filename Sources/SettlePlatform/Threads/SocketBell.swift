/// Wakes a thread that waits in `poll`. The thread includes ``descriptor`` in its `poll`.
package final class SocketBell: Sendable {
    /// The descriptor that the thread adds to its `poll`, for reading.
    package let descriptor: Int32
    private let far: Int32
    /// Whether there is a ring that the thread has not silenced; then another one need not be sent.
    private let isRung = Guarded(false)

    /// Creates a bell; `nil` if the system has no sockets left.
    package init?() {
        guard let pair = Sockets.pair() else { return nil }
        (descriptor, far) = pair
        for end in [descriptor, far] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        Sockets.close(descriptor)
        Sockets.close(far)
    }

    /// Wakes the thread, now or at its next wait.
    package func ring() {
        let isFirst = isRung.withLock { isRung in
            defer { isRung = true }
            return !isRung
        }
        guard isFirst else { return }
        withUnsafeBytes(of: UInt8(0)) { _ = Sockets.send(far, $0) }
    }

    /// Clears all rings so far. Call it before you check for the changes that they announced.
    package func silence() {
        var room = [UInt8](repeating: 0, count: 512)
        while read(descriptor, &room, room.count) > 0 {}
        // Only now: a ring in between would be read away, and would prevent later ones from being sent.
        isRung.withLock { $0 = false }
    }
}
