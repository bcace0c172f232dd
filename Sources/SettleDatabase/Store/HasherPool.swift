internal import SettleCore
internal import SettlePlatform

/// Hashers to be used again, one thread at a time each.
final class HasherPool: Sendable {
    private let idle = Guarded<[Lent<RevisionHasher>]>([])

    func with<Result>(_ body: (RevisionHasher) throws -> Result) rethrows -> Result {
        let hasher = idle.withLock { $0.popLast() } ?? Lent(RevisionHasher())
        defer { idle.withLock { $0.append(hasher) } }
        return try body(hasher.value)
    }
}
