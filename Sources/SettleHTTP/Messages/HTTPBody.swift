package import SettlePlatform

/// The body of a request or a response.
///
/// A body of bytes, or one that is made while it is sent, can be read several times. One that arrives can be read once: a second
/// iterator throws. If the sequence ends without throwing, the body is complete.
public struct HTTPBody: AsyncSequence, Sendable {
    /// Makes the next piece of a body; returns `nil` at the end.
    public typealias Producer = @Sendable () async throws -> [UInt8]?

    /// The content of a body.
    package enum Content: Sendable {
        /// All bytes.
        case bytes([UInt8])
        /// Pieces that a task awaits.
        case pieces(length: Int64?, open: @Sendable () -> Producer)
        /// Pieces that a server reads from a stream while it sends them.
        case stream(any ResponseStream, length: Int64?)
        /// Another response of a server, with its own status and headers, which is not known yet.
        case later(Promise<HTTPResponse>)
        /// No content: the status 101 ends HTTP on the connection, and this closure gets the socket.
        case upgrade(@Sendable (UpgradedSocket) -> Void)
    }

    /// The content.
    package let content: Content
    /// The pieces that arrive; `nil` for another body.
    private let source: Source?

    private init(_ content: Content) { (self.content, source) = (content, nil) }

    /// An empty body.
    public static let none = HTTPBody(.bytes([]))

    /// A body of bytes.
    public static func bytes(_ bytes: [UInt8]) -> HTTPBody { HTTPBody(.bytes(bytes)) }

    /// A body of pieces that are produced while they are sent, at the speed of the connection.
    ///
    /// One piece at a time is requested, after the previous one was sent. A waiting producer blocks no thread.
    ///
    /// - Parameters:
    ///   - length: The number of bytes; `nil` if unknown: then the body is sent in chunks.
    ///   - open: Starts the body. It is called again only if the body has to be sent again from the start.
    /// - Returns: The body.
    public static func stream(length: Int64?, open: @escaping @Sendable () -> Producer) -> HTTPBody {
        HTTPBody(.pieces(length: length, open: open))
    }

    /// A body that a server reads from a stream.
    package static func stream(_ stream: any ResponseStream, length: Int64?) -> HTTPBody {
        HTTPBody(.stream(stream, length: length))
    }

    /// Another response, which is not known yet.
    package static func later(_ response: Promise<HTTPResponse>) -> HTTPBody { HTTPBody(.later(response)) }

    /// The end of HTTP on a connection; the closure gets the socket.
    package static func upgrade(_ taker: @escaping @Sendable (UpgradedSocket) -> Void) -> HTTPBody {
        HTTPBody(.upgrade(taker))
    }

    /// Creates a body that arrives in pieces.
    ///
    /// - Parameters:
    ///   - next: Returns the next piece, which is never empty, and `nil` at the end.
    ///   - onDrop: Called once, after the body and its iterators were released, or when ``collect(limit:)`` refuses the
    ///     body.
    public init(
        next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void = {}
    ) {
        let source = Source(next: next, onDrop: onDrop)
        content = .pieces(length: nil) { source.open() }
        self.source = source
    }

    /// The number of bytes; `nil` if unknown.
    package var length: Int64? {
        switch content {
        case .bytes(let bytes): Int64(bytes.count)
        case .pieces(let length, _), .stream(_, let length): length
        case .later, .upgrade: nil
        }
    }

    /// Whether the body is empty.
    package var isNone: Bool { if case .bytes(let bytes) = content { bytes.isEmpty } else { false } }

    /// Reads the whole body.
    ///
    /// - Parameter limit: How many bytes it may have.
    /// - Returns: Its bytes.
    /// - Throws: ``TransportError``; with code `bodyTooLarge` past the limit, which also ends the transfer.
    public func collect(limit: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await piece in self {
            guard all.count + piece.count <= limit else {
                source?.end()
                throw TransportError(.bodyTooLarge, "the answer has more than the \(limit) bytes that are allowed")
            }
            if all.isEmpty { all = piece } else { all += piece }
        }
        return all
    }

    /// An iterator over the pieces.
    public func makeAsyncIterator() -> AsyncIterator {
        if case .bytes(let bytes) = content { AsyncIterator(bytes: bytes) } else { AsyncIterator(producer: open()) }
    }

    /// Begins to read the body, for a reader that waits for its pieces one by one.
    package func open() -> Producer {
        switch content {
        case .bytes(let bytes):
            let rest = Guarded(bytes)
            return {
                rest.withLock { rest in
                    defer { rest = [] }
                    return rest.isEmpty ? nil : rest
                }
            }
        case .pieces(_, let open): return open()
        // A server's own, which its clients get as pieces.
        case .stream, .later, .upgrade:
            return { throw TransportError(.badAnswer, "this body is not sent yet, so it can't be read") }
        }
    }

    /// Iterates over the pieces of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var bytes: [UInt8] = []
        fileprivate var producer: Producer?

        /// The next piece, never empty; `nil` at the end.
        ///
        /// - Throws: ``TransportError``; with code `cancelled` when the task is cancelled, which ends the transfer.
        public mutating func next() async throws -> [UInt8]? {
            if let producer { return try await producer() }
            defer { bytes = [] }
            return bytes.isEmpty ? nil : bytes
        }
    }

    private final class Source: Sendable {
        private struct State {
            var isOpen = false
            var hasEnded = false
        }

        private let next: @Sendable () async throws -> [UInt8]?
        private let onDrop: @Sendable () -> Void
        private let state = Guarded(State())

        init(next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void) {
            self.next = next
            self.onDrop = onDrop
        }

        deinit { end() }

        /// Ends the transfer, unless it has ended.
        func end() {
            let isFirst = state.withLock { state in
                defer { state.hasEnded = true }
                return !state.hasEnded
            }
            if isFirst { onDrop() }
        }

        func open() -> Producer {
            let wasOpen = state.withLock { state in
                defer { state.isOpen = true }
                return state.isOpen
            }
            guard !wasOpen else {
                return { throw TransportError(.bodyFailed, "this body arrives once, and was read before") }
            }
            return { try await self.next() }
        }
    }
}

// MARK: - ResponseStream

/// A body that is made while it is sent: an attachment, a long list, or a feed that waits most of the time.
///
/// A stream that has to wait reports that, and holds no thread until it calls `wake`. The transport calls it on a
/// worker thread, one call at a time.
package protocol ResponseStream: AnyObject, Sendable {
    /// Called once, before the first ``next()``.
    ///
    /// - Parameter wake: Makes the transport call ``next()`` again after a wait. It may be called on any thread, at
    ///   any time.
    func begin(wake: @escaping @Sendable () -> Void)

    /// The next piece, or another step. If this throws, the client sees that the response was cut off.
    func next() throws -> ResponseStep

    /// Asks the stream to end soon. Its next step is then the last piece, if its format needs one.
    ///
    /// - Returns: Whether it ends by itself; otherwise it is ended at its next wait.
    func finish() -> Bool

    /// Called once, when everything was sent, the client has disconnected, or the server stops.
    func end()
}

extension ResponseStream {
    package func begin(wake: @escaping @Sendable () -> Void) {}
    package func finish() -> Bool { false }
    package func end() {}
}

/// The next step of a ``ResponseStream``.
package enum ResponseStep: Sendable {
    /// Bytes to send. They are empty if the stream is still searching and lets other work run meanwhile.
    case piece([UInt8])
    /// Nothing until the stream wakes.
    case wait
    /// The end.
    case end
}

// MARK: - UpgradedSocket

/// The socket of a connection after an upgrade from HTTP. Its owner reads and writes it without blocking, and gives
/// it back once.
package struct UpgradedSocket: Sendable {
    package let descriptor: Int32
    /// The bytes that arrived after the request.
    package let first: [UInt8]
    /// The address of the client.
    package let peer: String
    /// Gives it back to the transport, which closes it.
    package let giveBack: @Sendable () -> Void

    package init(descriptor: Int32, first: [UInt8], peer: String, giveBack: @escaping @Sendable () -> Void) {
        (self.descriptor, self.first, self.peer, self.giveBack) = (descriptor, first, peer, giveBack)
    }
}
