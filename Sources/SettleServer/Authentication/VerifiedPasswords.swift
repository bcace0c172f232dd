internal import SettleDatabase
internal import SettlePlatform

/// A cache of verified passwords, so that not every request derives a key.
///
/// It holds only a keyed hash of name, password and stored hash. A changed password has another stored hash, so it is
/// verified again.
final class VerifiedPasswords: Sendable {
    private struct State {
        var expiries: [[UInt8]: ContinuousClock.Instant] = [:]
        var order: [[UInt8]] = []
    }

    private let state = Guarded(State())
    private let key = SecureRandom.bytes(32)
    private let capacity: Int
    private let lifetime: Duration

    init(capacity: Int, seconds: Double) {
        self.capacity = capacity
        lifetime = .seconds(seconds)
    }

    /// Whether these were verified recently.
    func contains(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> Bool {
        let mark = mark(password, hash, name)
        return state.withLock { state in state.expiries[mark].map { $0 > .now } ?? false }
    }

    /// Records a verification.
    func insert(_ password: [UInt8], _ hash: PasswordHash, _ name: String) {
        let mark = mark(password, hash, name)
        state.withLock { state in
            if state.expiries.updateValue(.now + lifetime, forKey: mark) == nil { state.order.append(mark) }
            guard state.order.count > capacity else { return }
            // Half of the entries are removed at once, so that this is rare.
            for old in state.order.prefix(capacity / 2 + 1) { state.expiries[old] = nil }
            state.order.removeFirst(capacity / 2 + 1)
        }
    }

    /// A keyed hash of credentials; it never leaves this process.
    func mark(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> [UInt8] {
        HashFunction.sha256.hash(key + Self.message(password, hash, name))
    }

    /// The parts of credentials in one text, each with its length.
    static func message(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> [UInt8] {
        var message: [UInt8] = []
        func append(_ part: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { message.append(contentsOf: $0) }
            message.append(contentsOf: part)
        }
        append(name.utf8)
        append(hash.hash.utf8)
        append(hash.salt.utf8)
        if case .derived(let function, let iterations, let fromSimple) = hash.scheme {
            append(function.rawValue.utf8)
            withUnsafeBytes(of: UInt64(bitPattern: Int64(iterations))) { append($0) }
            message.append(fromSimple ? 1 : 0)
        }
        append(password)
        return message
    }
}
