internal import SettleDatabase

/// Passwords that were verified lately, so that not every request derives a key.
///
/// None is kept, only a keyed hash of name, password and stored hash; a password that is changed has another stored hash
/// and is asked about anew.
final class VerifiedPasswords: Sendable {
    private struct State {
        var expiries: [[UInt8]: ContinuousClock.Instant] = [:]
        var order: [[UInt8]] = []
    }

    private let state = Guarded(State())
    private let key = Secrets.random(32)
    private let capacity: Int
    private let lifetime: Duration

    init(capacity: Int, seconds: Double) {
        self.capacity = capacity
        lifetime = .seconds(seconds)
    }

    /// Whether these were verified and not too long ago.
    func contains(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> Bool {
        let mark = mark(password, hash, name)
        return state.withLock { state in state.expiries[mark].map { $0 > .now } ?? false }
    }

    /// Remembers that these were verified.
    func insert(_ password: [UInt8], _ hash: PasswordHash, _ name: String) {
        let mark = mark(password, hash, name)
        state.withLock { state in
            if state.expiries.updateValue(.now + lifetime, forKey: mark) == nil { state.order.append(mark) }
            guard state.order.count > capacity else { return }
            // The oldest half goes at once, so that this is rare.
            for old in state.order.prefix(capacity / 2 + 1) { state.expiries[old] = nil }
            state.order.removeFirst(capacity / 2 + 1)
        }
    }

    private func mark(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> [UInt8] {
        var message: [UInt8] = []
        for part in [Array(name.utf8), Array(hash.line.utf8), password] {
            message += withUnsafeBytes(of: UInt64(part.count).littleEndian) { Array($0) } + part
        }
        return HashFunction.sha256.code(of: message, key: key)
    }
}
