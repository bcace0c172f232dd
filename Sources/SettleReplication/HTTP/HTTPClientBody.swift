/// The body of an answer, in pieces as they arrive.
///
/// At most about 256 KiB wait to be read, then the server has to: a slow reader bounds the sender, not the memory.
/// A body is read once, by one task at a time. It ends early only by throwing: when the sequence ends, all was there.
/// Letting go of it, and of all its iterators, ends the transfer and gives its connection free.
public struct HTTPClientBody: AsyncSequence, Sendable {
    private let source: Source

    /// Makes a body.
    ///
    /// - Parameters:
    ///   - next: The next piece, never empty, and `nil` behind the last.
    ///   - onDrop: Is called when nobody can read on.
    public init(
        next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void = {}
    ) {
        source = Source(next: next, onDrop: onDrop)
    }

    /// Reads all that is left.
    ///
    /// - Parameter limit: How many bytes it may be.
    /// - Returns: Its bytes.
    /// - Throws: ``HTTPClientError``; with code `bodyTooLarge` past the limit.
    public func collect(limit: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        while let piece = try await source.next() {
            guard all.count + piece.count <= limit else {
                throw HTTPClientError(.bodyTooLarge, "the answer has more than the \(limit) bytes that are allowed")
            }
            if all.isEmpty { all = piece } else { all += piece }
        }
        return all
    }

    /// An iterator over the pieces that are left; all iterators of a body share them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// Goes over the pieces of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        /// The next piece, never empty; `nil` behind the last.
        ///
        /// - Throws: ``HTTPClientError``; with code `cancelled` when the task is cancelled, which ends the transfer.
        public mutating func next() async throws -> [UInt8]? { try await source.next() }
    }

    fileprivate final class Source: Sendable {
        let next: @Sendable () async throws -> [UInt8]?
        private let onDrop: @Sendable () -> Void

        init(next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void) {
            self.next = next
            self.onDrop = onDrop
        }

        deinit { onDrop() }
    }
}
