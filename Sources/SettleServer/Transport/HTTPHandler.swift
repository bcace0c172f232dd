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
    let plan: @Sendable (HTTPRequest) -> Plan
    /// Looks at a request whose body is long and has not come yet, on a thread that may wait for the disk, and calls the closure with
    /// what it finds, now or later.
    var admit: @Sendable (HTTPRequest, @escaping @Sendable (Admission) -> Void) -> Void = { $1(.admitted(.max)) }
    /// Answers a request that came on an open connection after the listener began to stop; must not wait for anything.
    var refuse: @Sendable (HTTPRequest) -> HTTPResponse = { _ in .error(.stopping) }
}
