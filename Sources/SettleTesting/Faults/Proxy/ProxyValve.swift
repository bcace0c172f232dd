/// Controls when, and how many, bytes of an answer are forwarded to the client.
struct ProxyValve {
    /// The maximum number of bytes; `nil` for no limit.
    var limit: Int?
    /// The time before which no byte is forwarded.
    var opens: ContinuousClock.Instant?
    /// The number of next bytes to forward one at a time, and the pause between them.
    private var drip: (left: Int, pause: Duration) = (0, .zero)
    /// The number of forwarded bytes.
    private(set) var passed = 0

    /// Whether the limit is reached.
    var isExhausted: Bool { limit.map { passed >= $0 } ?? false }

    /// Whether a byte may be forwarded now.
    var isOpen: Bool { !isExhausted && (opens.map { $0 <= .now } ?? true) }

    /// The number of bytes that may be forwarded now.
    var allowance: Int { isOpen ? min(drip.left > 0 ? 1 : .max, (limit ?? .max) - passed) : 0 }

    /// Forwards the next bytes one at a time.
    mutating func startDrip(_ count: Int, _ pause: Duration) {
        drip = (count, pause)
        if count > 0 { opens = .now + pause }
    }

    /// Records forwarded bytes.
    mutating func pass(_ count: Int) {
        passed += count
        guard drip.left > 0, count > 0 else { return }
        drip.left -= 1
        opens = drip.left > 0 ? .now + drip.pause : nil
    }
}
