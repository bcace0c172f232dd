/// What is to be sent, each time it has changed, without end.
///
///     for await changes in journal.observePending() {
///         badge.count = changes.count
///     }
///
/// ## Buffering
///
/// Nothing is buffered: a slow observer sees what is to be sent as it is then, and not what it was in between. It ends when
/// the database is closed or the task is cancelled.
public struct PendingObservation: AsyncSequence, Sendable {
    let cache: PendingCache

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(cache: cache) }

    /// The place of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let cache: PendingCache
        private var seen: UpdateSequence?

        init(cache: PendingCache) { self.cache = cache }

        /// What is to be sent; waits until it is something else than before. `nil` when the database is closed or the task
        /// is cancelled.
        public mutating func next() async -> [PendingChange]? {
            if Task.isCancelled { return nil }
            if let seen, !(await cache.notifier.wait(after: seen)) { return nil }
            let (changes, version) = cache.changes()
            seen = version
            return changes
        }
    }
}
