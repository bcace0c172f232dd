internal import SettleHTTP

/// What brings requests in and answers out: the boundary behind which the HTTP library is.
///
/// Handlers run on threads of their own and may block; what needs no waiting they may answer on a thread that polls. Whoever makes another transport keeps to these rules: a request
/// is handed on when its body is complete or has grown past a piece; a ``ResponseStream`` that waits holds no thread;
/// a client that is gone ends its stream.
protocol HTTPListener: AnyObject, Sendable {
    /// The port it listens on.
    var port: Int { get }

    /// How many connections there are, and how many requests are under way.
    var load: (connections: Int, requests: Int) { get }

    /// Makes a copy of the socket that it listens on, for a listener that takes its place.
    ///
    /// - Throws: ``ListenerError`` if the listener has closed its socket, or the system refuses the copy.
    func copySocket() throws -> Int32

    /// Takes no more connections, and has every answer close its connection. Requests on open connections are answered.
    func retire()

    /// Begins to stop: takes no more connections, refuses further requests on open ones, has every answer close its
    /// connection, and ends the streams that wait. Returns at once.
    func drain()

    /// Drains, lets requests finish for a while, and then cuts off those that have not.
    func stop(within seconds: Double)
}

// MARK: - HTTPHandler

/// What answers requests.
struct HTTPHandler: Sendable {
    /// How a request is answered.
    enum Plan: Sendable {
        /// By this, which needed no waiting.
        case answered(HTTPResponse)
        /// By a worker thread, which may wait.
        case work(@Sendable () -> HTTPResponse)
    }

    /// Whether the rest of a long body is worth taking.
    enum Admission: Sendable {
        /// It is, up to so many bytes in all.
        case admitted(Int64)
        /// It is not; this is the answer.
        case refused(HTTPResponse)
    }

    /// Looks at a request that has come as a whole; runs once for each, on a thread that polls for all clients, and must not
    /// wait for anything.
    let plan: @Sendable (ServerRequest) -> Plan
    /// Looks at a request whose body is long and has not come yet, on a thread that may wait for the disk, and calls the closure with
    /// what it finds, now or later.
    var admit: @Sendable (ServerRequest, @escaping @Sendable (Admission) -> Void) -> Void = { $1(.admitted(.max)) }
    /// Answers a request that came on an open connection after the listener began to stop; must not wait for anything.
    var refuse: @Sendable (ServerRequest) -> HTTPResponse = { _ in .error(.stopping) }
}

// MARK: - ListenerError

/// Why a transport could not begin.
struct ListenerError: Error, CustomStringConvertible {
    let description: String
}

// MARK: - RequestRecord

/// What became of a request, once it is over.
struct RequestRecord: Sendable {
    let target: RequestTarget
    let method: String
    /// The address it came from.
    let peer: String
    /// The id in the answer's header, where a handler made it.
    let id: String?
    /// Who asked, once that was known.
    let user: String?
    /// The status of the answer; `nil` when the client was gone before there was one.
    let status: Int?
    /// How many bytes of the answer's body were handed to the connection.
    let bytes: Int64
    /// From the first line to the end.
    let duration: Duration
    /// Whether the connection ended before the answer did.
    let isCut: Bool
}
