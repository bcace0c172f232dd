internal import Dispatch
internal import SettlePlatform

/// Calls a closure at the time the next document expires.
final class ExpirationTimer: Sendable {
    private struct Pending {
        var number = 0
        /// When the timer fires, in milliseconds since 1970; `nil` if it is not set.
        var time: Int64?
    }

    private let pending = Guarded(Pending())
    /// The longest delay in milliseconds; later times are checked again then.
    private static let longest: Int64 = 24 * 3_600_000

    /// Sets a time, in milliseconds since 1970, unless an earlier one is set already.
    func set(for time: Int64, now: Int64, _ action: @escaping @Sendable () -> Void) {
        let bounded = min(max(time, now), now + Self.longest)
        let number: Int? = pending.withLock { pending in
            if let earlier = pending.time, earlier <= bounded { return nil }
            pending.number += 1
            pending.time = bounded
            return pending.number
        }
        guard let number else { return }
        let delay = DispatchTimeInterval.milliseconds(Int(bounded - now))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [weak self] in
            if self?.fires(number) == true { action() }
        }
    }

    /// Cancels the timer.
    func cancel() {
        pending.withLock { pending in
            pending.number += 1
            pending.time = nil
        }
    }

    /// Whether a number is that of the last timer set.
    private func fires(_ number: Int) -> Bool {
        pending.withLock { pending in
            guard pending.number == number else { return false }
            pending.time = nil
            return true
        }
    }
}
