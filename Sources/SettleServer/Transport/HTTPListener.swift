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
