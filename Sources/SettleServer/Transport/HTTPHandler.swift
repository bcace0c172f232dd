/// What answers requests.
struct HTTPHandler: Sendable {
    /// Whether the rest of a long body is worth taking.
    enum Admission: Sendable {
        /// It is, up to so many bytes in all.
        case admitted(Int64)
        /// It is not; this is the answer.
        case refused(HTTPResponse)
    }

    /// Answers a request; runs on a worker thread, and may take its time.
    let answer: @Sendable (HTTPRequest) -> HTTPResponse
    /// Answers a request without a body, or with a short one, if it can do so at once, else gives `nil` and has changed nothing. It runs on a
    /// thread that polls for all clients, and must not wait for anything.
    let answerAtOnce: @Sendable (HTTPRequest) -> HTTPResponse?
    /// Looks at a request whose body is long and has not come yet; runs on a thread that may wait for the disk.
    var admit: @Sendable (HTTPRequest) -> Admission = { _ in .admitted(.max) }
}
