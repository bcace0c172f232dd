internal import Synchronization

/// Counts commits that changed design documents, so that a cache of design documents can check whether it is
/// current.
final class DesignChanges: Sendable {
    private let isPending = Atomic<Bool>(false)
    private let count = Atomic<UInt64>(0)

    /// Records that a design document is being written.
    func markPending() { isPending.store(true, ordering: .sequentiallyConsistent) }

    /// Records a commit, before its writer is notified.
    func commit() {
        guard isPending.exchange(false, ordering: .sequentiallyConsistent) else { return }
        count.add(1, ordering: .sequentiallyConsistent)
    }

    /// The number of times that design documents were changed since the database was opened.
    var age: UInt64 { count.load(ordering: .sequentiallyConsistent) }
}

/// Counts changes of settings, so that a cache of settings can check whether it is current.
final class SettingsChanges: Sendable {
    private let count = Atomic<UInt64>(0)

    /// Records that settings have changed, or may have.
    func markChanged() { count.add(2, ordering: .sequentiallyConsistent) }

    /// Records that a setting is about to be changed, or just was.
    func step() { count.add(1, ordering: .sequentiallyConsistent) }

    /// A number that changes before and after every change.
    var age: UInt64 { count.load(ordering: .sequentiallyConsistent) }
}
