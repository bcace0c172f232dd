internal import SettleHTTP

/// Receives requests and sends responses. The rest of the server knows the HTTP library only through this protocol.
///
/// Handlers run on worker threads and may block. A request that needs no waiting may be answered on the polling
/// thread. An implementation keeps these rules: it passes a request on when the body is complete or has grown past
/// one piece; a ``ResponseStream`` that waits holds no thread; when a client disconnects, its stream ends.
protocol HTTPListener: AnyObject, Sendable {
    /// The port it listens on.
    var port: Int { get }

    /// The number of connections, and of unanswered requests.
    var load: (connections: Int, requests: Int) { get }

    /// Duplicates the listening socket for a listener that replaces this one.
    ///
    /// - Throws: ``ListenerError`` if the listener has closed its socket, or the system refuses the copy.
    func copySocket() throws -> Int32

    /// Accepts no more connections, and closes each connection after its next answer. Requests on open connections
    /// are answered.
    func retire()

    /// Begins to stop: accepts no more connections, refuses further requests, closes each connection after its next
    /// answer, and ends waiting streams. Returns at once.
    func drain()

    /// Calls ``drain()``, gives requests some time to finish, and then closes the remaining connections.
    func stop(within seconds: Double)
}

// MARK: - HTTPHandler

/// Answers requests.
struct HTTPHandler: Sendable {
    /// How to answer a request.
    enum Plan: Sendable {
        /// With this response, which needed no waiting.
        case answered(HTTPResponse)
        /// With the closure's response, on a worker thread that may wait.
        case work(@Sendable () -> HTTPResponse)
    }

    /// The decision on the rest of a long body.
    enum Admission: Sendable {
        /// Read the body, up to this number of bytes.
        case admitted(Int64)
        /// Don't read it; send this response.
        case refused(HTTPResponse)
    }

    /// Decides how to answer a complete request. It runs once per request on the polling thread of all clients, and
    /// must not wait.
    let plan: @Sendable (ServerRequest) -> Plan
    /// Decides on a request whose long body has not arrived yet. It runs on a thread that may wait for the disk,
    /// and calls the closure with its decision, now or later.
    var admit: @Sendable (ServerRequest, @escaping @Sendable (Admission) -> Void) -> Void = { $1(.admitted(.max)) }
    /// Answers a request that arrived on an open connection after the listener began to stop. It must not wait.
    var refuse: @Sendable (ServerRequest) -> HTTPResponse = { _ in .error(.stopping) }
}

// MARK: - ListenerError

/// The reason why a listener could not start.
struct ListenerError: Error, CustomStringConvertible {
    let description: String
}

// MARK: - RequestRecord

/// The outcome of a request, for the log.
struct RequestRecord: Sendable {
    let target: RequestTarget
    let method: String
    /// The client's address.
    let peer: String
    /// The id in the response's header, if a handler has set one.
    let id: String?
    /// The user, if the request was authenticated.
    let user: String?
    /// The status of the response; `nil` if the client disconnected before there was one.
    let status: Int?
    /// The number of bytes of the response's body that were passed to the connection.
    let bytes: Int64
    /// The time from the first line of the request to the end.
    let duration: Duration
    /// Whether the connection ended before the response did.
    let isCut: Bool

    /// Whether the request is kept in memory for administrators.
    var isNotable: Bool { Self.isNotable(target, status: status, duration, isCut: isCut) }

    /// Whether a request failed by the server's fault, was cut off, or took a second. Feeds that wait, and connections of
    /// Couchbase Lite, last and end as their clients want.
    static func isNotable(_ target: RequestTarget, status: Int?, _ duration: Duration, isCut: Bool) -> Bool {
        if let status, status >= 500 { return true }
        return (isCut || duration >= .seconds(1)) && !waits(target)
    }

    private static func waits(_ target: RequestTarget) -> Bool {
        switch target.segments.last {
        case "_changes", "_db_updates": target.query["feed"].map { $0 != "normal" } ?? false
        case "_blipsync": true
        default: false
        }
    }
}
