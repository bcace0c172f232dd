internal import SettleDatabase
internal import SettlePlatform

/// The indexes of a database whose files are open: those that were used last, up to a number.
///
///     used   a c b d     note(c), limit 3     →     b d c, and the files of a are closed
final class OpenIndexes: Sendable {
    private let limit: Int
    /// The least recently used one first.
    private let used = Guarded<[any FiledIndex]>([])

    /// - Parameter limit: How many there may be; those that are being used count, but stay open.
    init(limit: Int) { self.limit = max(limit, 1) }

    /// Notes the use of an index, and closes the files of those that are one too many, unless nothing may wait.
    ///
    /// - Complexity: O(*n*) in the limit.
    func note(_ index: any FiledIndex) {
        let doomed = used.withLock { used -> ArraySlice<any FiledIndex> in
            if used.last === index { return [] }
            used.removeAll { $0 === index }
            used.append(index)
            guard used.count > limit, !Waiting.isForbidden else { return [] }
            defer { used.removeFirst(used.count - limit) }
            return used.prefix(used.count - limit)
        }
        for index in doomed { index.release() }
    }

    /// Forgets an index whose file was removed.
    func forget(_ index: any FiledIndex) {
        used.withLock { used in used.removeAll { $0 === index } }
        index.use.remove()
    }
}
