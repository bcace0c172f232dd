internal import SettleCore
internal import SettlePlatform

/// Reusable hashers, each used by one thread at a time.
final class HasherPool: Sendable {
    private let idle = Guarded<[Lent<RevisionHasher>]>([])

    func with<Result>(_ body: (RevisionHasher) throws -> Result) rethrows -> Result {
        let hasher = idle.withLock { $0.popLast() } ?? Lent(RevisionHasher())
        defer { idle.withLock { $0.append(hasher) } }
        return try body(hasher.value)
    }
}
