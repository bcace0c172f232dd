package import SettlePlatform

/// The body of a request or a response.
///
/// A body of bytes, or one that is made while it is sent, can be read several times. One that arrives can be read once: a second
/// iterator throws. If the sequence ends without throwing, the body is complete.
public struct HTTPBody: AsyncSequence, Sendable {
    /// Makes the next piece of a body, and `nil` at the end.
    public typealias Producer = @Sendable () async throws -> [UInt8]?

    /// What a body is made of.
    package enum Content: Sendable {
        /// All of it.
        case bytes([UInt8])
        /// Pieces that a task waits for.
        case pieces(length: Int64?, open: @Sendable () -> Producer)
        /// Pieces that a server asks for while it sends them.
        case stream(any ResponseStream, length: Int64?)
        /// Another response of a server, with a status and headers of its own, once it is there.
        case later(Promise<HTTPResponse>)
        /// Nothing: with the status 101 the connection is no longer HTTP's, and this gets its socket.
        case upgrade(@Sendable (UpgradedSocket) -> Void)
    }

    /// What it is made of.
    package let content: Content

    private init(_ content: Content) { self.content = content }

    /// No body.
    public static let none = HTTPBody(.bytes([]))

    /// Bytes.
    public static func bytes(_ bytes: [UInt8]) -> HTTPBody { HTTPBody(.bytes(bytes)) }

    /// Pieces that are produced while they are sent, at the pace of the connection.
    ///
    /// A piece is requested after the previous one was sent, one at a time; a waiting producer blocks no thread.
    ///
    /// - Parameters:
    ///   - length: How many bytes there are, or `nil` if unknown: then the body is sent in chunks.
    ///   - open: Starts the body. It is called once, and again only if the body has to be sent again from the start.
    /// - Returns: The body.
    public static func stream(length: Int64?, open: @escaping @Sendable () -> Producer) -> HTTPBody {
        HTTPBody(.pieces(length: length, open: open))
    }

    /// Pieces that a server asks a stream for.
    package static func stream(_ stream: any ResponseStream, length: Int64?) -> HTTPBody {
        HTTPBody(.stream(stream, length: length))
    }

    /// Another response, once it is there.
    package static func later(_ response: Promise<HTTPResponse>) -> HTTPBody { HTTPBody(.later(response)) }

    /// The socket of a connection that is no longer HTTP's.
    package static func upgrade(_ taker: @escaping @Sendable (UpgradedSocket) -> Void) -> HTTPBody {
        HTTPBody(.upgrade(taker))
    }

    /// Creates a body that arrives in pieces.
    ///
    /// - Parameters:
    ///   - next: The next piece, never empty, and `nil` at the end.
    ///   - onDrop: Called when the body and its iterators were released.
    public init(
        next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void = {}
    ) {
        let source = Source(next: next, onDrop: onDrop)
        content = .pieces(length: nil) { source.open() }
    }

    /// How many bytes there are; `nil` if unknown.
    package var length: Int64? {
        switch content {
        case .bytes(let bytes): Int64(bytes.count)
        case .pieces(let length, _), .stream(_, let length): length
        case .later, .upgrade: nil
        }
    }

    /// Whether there is no body.
    package var isNone: Bool { if case .bytes(let bytes) = content { bytes.isEmpty } else { false } }

    /// Reads the whole body.
    ///
    /// - Parameter limit: How many bytes it may have.
    /// - Returns: Its bytes.
    /// - Throws: ``TransportError``; with code `bodyTooLarge` past the limit.
    public func collect(limit: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await piece in self {
            guard all.count + piece.count <= limit else {
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
        private let next: @Sendable () async throws -> [UInt8]?
        private let onDrop: @Sendable () -> Void
        private let isOpen = Guarded(false)

        init(next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void) {
            self.next = next
            self.onDrop = onDrop
        }

        deinit { onDrop() }

        func open() -> Producer {
            let wasOpen = isOpen.withLock { isOpen in
                defer { isOpen = true }
                return isOpen
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
/// A stream that has to wait says so and holds no thread until it calls `wake`. The transport asks on a worker thread,
/// one at a time.
package protocol ResponseStream: AnyObject, Sendable {
    /// Is called once, before the first ``next()``.
    ///
    /// - Parameter wake: Has ``next()`` called again, after it said to wait; may be called by any thread, at any time.
    func begin(wake: @escaping @Sendable () -> Void)

    /// The next piece, or what to do instead. When it throws, the client sees that the answer was cut off.
    func next() throws -> ResponseStep

    /// Asks it to end soon: the next ``next()`` gives the last piece, if its form needs one.
    ///
    /// - Returns: Whether it does; one that does not is ended where it waits.
    func finish() -> Bool

    /// Is called once, when all was sent, the client is gone, or the server stops.
    func end()
}

extension ResponseStream {
    package func begin(wake: @escaping @Sendable () -> Void) {}
    package func finish() -> Bool { false }
    package func end() {}
}

/// What a ``ResponseStream`` has to say when it is asked for more.
package enum ResponseStep: Sendable {
    /// Bytes to send; none for a stream that looks for some and lets others go on meanwhile.
    case piece([UInt8])
    /// Nothing until it wakes.
    case wait
    /// Nothing any more.
    case end
}

// MARK: - UpgradedSocket

/// The socket of a connection that is no longer HTTP's. Its owner reads and writes it without waiting, and gives it back once.
package struct UpgradedSocket: Sendable {
    package let descriptor: Int32
    /// What has come after the request.
    package let first: [UInt8]
    /// Who is at the other end.
    package let peer: String
    /// Gives it back to the transport, which closes it.
    package let giveBack: @Sendable () -> Void

    package init(descriptor: Int32, first: [UInt8], peer: String, giveBack: @escaping @Sendable () -> Void) {
        (self.descriptor, self.first, self.peer, self.giveBack) = (descriptor, first, peer, giveBack)
    }
}
