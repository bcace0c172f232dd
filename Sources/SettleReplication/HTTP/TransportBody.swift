/// The body of a response, in pieces as they arrive.
///
/// At most about 256 KiB are buffered, then the server has to wait: a slow reader slows the sender and does not fill
/// memory. A body can be read once, by one task at a time. If the sequence ends without throwing, the body is complete.
/// Releasing the body and all its iterators ends the transfer and frees its connection.
public struct TransportBody: AsyncSequence, Sendable {
    private let source: Source

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - next: The next piece, never empty, and `nil` at the end.
    ///   - onDrop: Called when the body and its iterators were released.
    public init(
        next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void = {}
    ) {
        source = Source(next: next, onDrop: onDrop)
    }

    /// Reads the rest of the body.
    ///
    /// - Parameter limit: How many bytes the rest may have.
    /// - Returns: Its bytes.
    /// - Throws: ``TransportError``; with code `bodyTooLarge` past the limit.
    public func collect(limit: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        while let piece = try await source.next() {
            guard all.count + piece.count <= limit else {
                throw TransportError(.bodyTooLarge, "the answer has more than the \(limit) bytes that are allowed")
            }
            if all.isEmpty { all = piece } else { all += piece }
        }
        return all
    }

    /// An iterator over the remaining pieces; all iterators of a body share them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// Iterates over the pieces of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        /// The next piece, never empty; `nil` at the end.
        ///
        /// - Throws: ``TransportError``; with code `cancelled` when the task is cancelled, which ends the transfer.
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
