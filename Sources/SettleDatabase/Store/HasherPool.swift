internal import RevisionTree

/// Hashers to be used again, one thread at a time each.
///
/// Unchecked: `idle` is guarded by `lock`, and a hasher that was taken is used by its one taker only.
final class HasherPool: @unchecked Sendable {
    private let lock = Guarded(())
    private var idle: [RevisionHasher] = []

    func with<Result>(_ body: (RevisionHasher) throws -> Result) rethrows -> Result {
        let hasher = lock.withLock { _ in idle.popLast() } ?? RevisionHasher()
        defer { lock.withLock { _ in idle.append(hasher) } }
        return try body(hasher)
    }
}
