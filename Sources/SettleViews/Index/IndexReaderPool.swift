internal import SettleDatabase
internal import SettlePlatform

/// Readers of an index file that are not in use, each with its own connection.
final class IndexReaderPool<Reader>: Sendable {
    private struct State {
        var readers: [Lent<Reader>] = []
        /// The number of times it was cleared: readers lent before that are not kept.
        var round = 0
    }

    private let state = Guarded(State())

    /// The number of readers kept.
    private static var most: Int { 4 }

    private let make: @Sendable () throws -> Reader

    init(_ make: @escaping @Sendable () throws -> Reader) { self.make = make }

    /// Lends a reader, a new one if none is free; a reader that failed is not reused.
    func withReader<Result>(_ body: (Reader) throws -> Result) throws -> Result {
        let (free, round) = takeFree()
        return try lend(try free ?? Lent(make()), round, body)
    }

    /// Lends a reader that is free.
    ///
    /// - Throws: What the closure throws; ``NotAtHand`` if none is free.
    func withFreeReader<Result>(_ body: (Reader) throws -> Result) throws -> Result {
        guard case (let free?, let round) = takeFree() else { throw NotAtHand() }
        return try lend(free, round, body)
    }

    private func takeFree() -> (reader: Lent<Reader>?, round: Int) {
        state.withLock { ($0.readers.popLast(), $0.round) }
    }

    private func lend<Result>(_ reader: Lent<Reader>, _ round: Int, _ body: (Reader) throws -> Result) throws -> Result
    {
        let result: Result
        do { result = try body(reader.value) } catch let error as NotAtHand {
            keep(reader, round)
            throw error
        }
        keep(reader, round)
        return result
    }

    private func keep(_ reader: Lent<Reader>, _ round: Int) {
        state.withLock { if $0.round == round, $0.readers.count < Self.most { $0.readers.append(reader) } }
    }

    /// Closes all readers that are not in use, and those in use when they are returned.
    func clear() {
        let closed = state.withLock { state in
            defer {
                state.readers = []
                state.round += 1
            }
            return state.readers
        }
        withExtendedLifetime(closed) {}
    }
}
