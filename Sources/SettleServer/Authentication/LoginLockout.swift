internal import SettleDatabase
internal import SettlePlatform

/// Counts failed logins, and locks an account for the client's address.
/// As in CouchDB 3.5, failures are counted per address, name and salt of the account: a stranger can't lock an account for
/// others, and a new password unlocks it.
/// account for others, and a new password unlocks it.
final class LoginLockout: Sendable {
    private struct Key: Hashable {
        let peer: String
        let name: String
        let salt: String
    }

    private struct Failures {
        var count = 0
        var expiry: ContinuousClock.Instant
    }

    private let state = Guarded<[Key: Failures]>([:])
    private let threshold: Int
    private let lifetime: Duration
    private static let capacity = 10_000

    /// - Parameters:
    ///   - threshold: How many failures lock; 0 disables the lock-out.
    ///   - seconds: How long a failure counts.
    init(threshold: Int, seconds: Double) {
        self.threshold = threshold
        lifetime = .seconds(min(max(seconds, 0), 1e9))
    }

    /// Checks that an account is not locked.
    ///
    /// - Throws: ``HTTPError`` with status 403.
    func check(_ peer: String, _ name: String, _ salt: String) throws {
        let isLocked = state.withLock { state in
            guard !state.isEmpty else { return false }
            let key = Key(peer: peer, name: name, salt: salt)
            guard let failures = state[key], failures.expiry > .now else { return false }
            return failures.count >= threshold
        }
        if isLocked, threshold > 0 {
            throw HTTPError.forbidden("Account is temporarily locked due to multiple authentication failures")
        }
    }

    /// Counts a failed login.
    func fail(_ peer: String, _ name: String, _ salt: String) {
        guard threshold > 0 else { return }
        let key = Key(peer: peer, name: name, salt: salt)
        state.withLock { state in
            let now = ContinuousClock.Instant.now
            if state.count >= Self.capacity, state[key] == nil {
                state = state.filter { $0.value.expiry > now }
                if state.count >= Self.capacity, let oldest = state.min(by: { $0.value.expiry < $1.value.expiry }) {
                    state[oldest.key] = nil
                }
            }
            var failures = state[key] ?? Failures(expiry: now)
            if failures.expiry <= now { failures.count = 0 }
            failures.count += 1
            failures.expiry = now + lifetime
            state[key] = failures
        }
    }
}
