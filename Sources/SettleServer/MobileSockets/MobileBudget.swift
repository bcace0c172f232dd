internal import SettlePlatform

/// Bounds the memory for the messages of all mobile connections. Each account may take a quarter of it.
///
/// A connection's own limits allow it tens of MiB, so a few would be enough to fill a small machine. When all take too much, the
/// largest connection is closed, or the largest of an account that takes more than its part; its client comes again and goes on
/// from its checkpoint.
final class MobileBudget: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: (account: String, bytes: Int)] = [:]
        var accounts: [String: Int] = [:]
        var total = 0

        mutating func change(_ account: String, by bytes: Int) {
            total += bytes
            let left = (accounts[account] ?? 0) + bytes
            accounts[account] = left > 0 ? left : nil
        }
    }

    private let state = Guarded(State())
    private let limit: Int
    private var share: Int { limit / 4 }

    /// - Parameter limit: The memory of all connections, in bytes.
    init(limit: Int) { self.limit = max(limit, 4) }

    /// The bytes of all connections.
    var total: Int { state.withLock(\.total) }

    /// Whether half of the memory is taken, so that connections should send in small portions.
    var isTight: Bool { state.withLock { $0.total > limit / 2 } }

    /// Whether an account may have some more bytes for an answer.
    func hasRoom(for account: String, bytes: Int) -> Bool {
        state.withLock { state in
            (state.accounts[account] ?? 0) <= share - bytes && state.total <= limit - bytes
        }
    }

    /// Records the bytes of a connection.
    ///
    /// - Returns: The connection to close, if there are too many.
    func set(_ connection: ObjectIdentifier, of account: String, bytes: Int) -> ObjectIdentifier? {
        state.withLock { state in
            let old = state.connections.updateValue((account, bytes), forKey: connection)?.bytes ?? 0
            guard old != bytes else { return nil }
            state.change(account, by: bytes - old)
            guard bytes > old else { return nil }
            let isOver = (state.accounts[account] ?? 0) > share
            guard isOver || state.total > limit else { return nil }
            return state.connections.filter { !isOver || $0.value.account == account }
                .max { $0.value.bytes < $1.value.bytes }?.key
        }
    }

    /// Forgets a connection.
    func remove(_ connection: ObjectIdentifier) {
        state.withLock { state in
            guard let old = state.connections.removeValue(forKey: connection) else { return }
            state.change(old.account, by: -old.bytes)
        }
    }
}
