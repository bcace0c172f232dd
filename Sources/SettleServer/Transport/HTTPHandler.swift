/// What answers requests.
struct HTTPHandler: Sendable {
    /// Answers a request; runs on a worker thread, and may take its time.
    let answer: @Sendable (HTTPRequest) -> HTTPResponse
    /// Answers a request without a body, or with a short one, if it can do so at once, else gives `nil` and has changed nothing. It runs on a
    /// thread that polls for all clients, and must not wait for anything.
    let answerAtOnce: @Sendable (HTTPRequest) -> HTTPResponse?
    /// Whether the answer of a request takes so little time as a rule that handing it to a worker would cost as much.
    let isShort: @Sendable (HTTPRequest) -> Bool
}
