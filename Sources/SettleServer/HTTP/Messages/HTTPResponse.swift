internal import SettleDatabase
internal import SettlePlatform

/// A response as a handler gives it to a transport.
struct HTTPResponse: Sendable {
    /// What follows the header.
    enum Body: Sendable {
        /// All of it.
        case bytes([UInt8])
        /// Made while it is sent; of a length that may be known.
        case stream(any ResponseStream, length: Int64?)
        /// Another response, with a status and headers of its own, once it is there.
        case later(Promise<HTTPResponse>)
        /// Nothing: with the status 101 the connection is no longer HTTP's, and this gets its socket.
        case upgrade(@Sendable (UpgradedSocket) -> Void)
    }

    /// The status code.
    var status: Int
    /// The header fields, but for those the transport writes itself: length, encoding of transfer, date, connection.
    var headers: HTTPHeaders
    /// The body.
    var body: Body
    /// Who asked, for the log.
    var user: String?
    /// The error behind a status from 500 on, for a client in the same process; it is never sent.
    var cause: (any Error)?

    init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

// MARK: - ResponseStream

/// A body that is made while it is sent: an attachment, a long list, or a feed that waits most of the time.
///
/// A stream that has to wait says so and holds no thread until it calls `wake`. The transport asks on a worker thread,
/// one at a time.
protocol ResponseStream: AnyObject, Sendable {
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
    func begin(wake: @escaping @Sendable () -> Void) {}
    func finish() -> Bool { false }
    func end() {}
}

// MARK: - ResponseStep

/// What a ``ResponseStream`` has to say when it is asked for more.
enum ResponseStep: Sendable {
    /// Bytes to send; none for a stream that looks for some and lets others go on meanwhile.
    case piece([UInt8])
    /// Nothing until it wakes.
    case wait
    /// Nothing any more.
    case end
}

// MARK: - UpgradedSocket

/// The socket of a connection that is no longer HTTP's. Its owner reads and writes it without waiting, and gives it back once.
struct UpgradedSocket: Sendable {
    let descriptor: Int32
    /// What has come behind the request.
    let first: [UInt8]
    /// Who is at the other end.
    let peer: String
    /// Gives it back to the transport, which closes it.
    let giveBack: @Sendable () -> Void
}
