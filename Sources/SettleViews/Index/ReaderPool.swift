internal import SettleDatabase

/// Readers of an index file that are not in use, each with a connection of its own.
final class ReaderPool<Reader>: Sendable {
    private let readers = Guarded<[Reader]>([])

    /// How many are kept.
    private static var most: Int { 4 }

    private let make: @Sendable () throws -> Reader

    init(_ make: @escaping @Sendable () throws -> Reader) { self.make = make }

    /// Lends a reader, a new one when none is free; one that failed is not lent again.
    ///
    /// - Throws: What the closure throws; ``WouldWait`` where a new one is needed and nothing may wait.
    func withReader<Result>(_ body: (Reader) throws -> Result) throws -> Result {
        let reader = try readers.withLock { $0.popLast() } ?? makeReader()
        let result: Result
        do { result = try body(reader) } catch let error as WouldWait {
            keep(reader)
            throw error
        }
        keep(reader)
        return result
    }

    private func keep(_ reader: Reader) { readers.withLock { if $0.count < Self.most { $0.append(reader) } } }

    private func makeReader() throws -> Reader {
        try Waiting.check()
        return try make()
    }

    /// Lets go of all that are not in use.
    func clear() { readers.withLock { $0 = [] } }
}
