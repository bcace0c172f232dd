/// When, and how many of the bytes of an answer go to the client.
struct ProxyValve {
    /// How many may pass at all; `nil` for no limit.
    var limit: Int?
    /// Nothing passes before.
    var opens: ContinuousClock.Instant?
    /// How many of the next bytes come one at a time, and what lies between them.
    private var drip: (left: Int, pause: Duration) = (0, .zero)
    /// How many have passed.
    private(set) var passed = 0

    /// Whether no more may pass.
    var isExhausted: Bool { limit.map { passed >= $0 } ?? false }

    /// Whether a byte may pass now.
    var isOpen: Bool { !isExhausted && (opens.map { $0 <= .now } ?? true) }

    /// How many bytes may pass now.
    var allowance: Int { isOpen ? min(drip.left > 0 ? 1 : .max, (limit ?? .max) - passed) : 0 }

    /// Lets the next so many bytes come one at a time.
    mutating func startDrip(_ count: Int, _ pause: Duration) {
        drip = (count, pause)
        if count > 0 { opens = .now + pause }
    }

    /// Notes that so many have passed.
    mutating func pass(_ count: Int) {
        passed += count
        guard drip.left > 0, count > 0 else { return }
        drip.left -= 1
        opens = drip.left > 0 ? .now + drip.pause : nil
    }
}
