/// The pending changes, each time they have changed, without end.
///
///     for await changes in journal.observePending() {
///         badge.count = changes.count
///     }
///
/// ## Buffering
///
/// Nothing is buffered: a slow observer gets the current changes and misses intermediate states. It ends if the
/// database is closed or the task is cancelled.
public struct PendingObservation: AsyncSequence, Sendable {
    let cache: PendingCache

    /// Starts observing.
    public func makeAsyncIterator() -> Iterator { Iterator(cache: cache) }

    /// The position of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let cache: PendingCache
        private var seen: UpdateSequence?

        init(cache: PendingCache) { self.cache = cache }

        /// The pending changes; waits until they differ from the last ones returned. `nil` if the database is closed or
        /// the task is cancelled.
        public mutating func next() async -> [PendingChange]? {
            if Task.isCancelled { return nil }
            if let seen, !(await cache.notifier.wait(after: seen)) { return nil }
            let (changes, version) = cache.changes()
            seen = version
            return changes
        }
    }
}
