internal import Synchronization

/// Counts commits that changed design documents, so that what was read of them is known to be current.
final class DesignChanges: Sendable {
    private let isPending = Atomic<Bool>(false)
    private let count = Atomic<UInt64>(0)

    /// A design document is being written.
    func note() { isPending.store(true, ordering: .sequentiallyConsistent) }

    /// Something was committed, and nobody was told yet.
    func commit() {
        guard isPending.exchange(false, ordering: .sequentiallyConsistent) else { return }
        count.add(1, ordering: .sequentiallyConsistent)
    }

    /// How often design documents were changed since the database was opened.
    var age: UInt64 { count.load(ordering: .sequentiallyConsistent) }
}
