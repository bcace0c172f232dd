/// Answers a request; runs on a worker thread.
typealias HTTPHandler = @Sendable (HTTPRequest) -> HTTPResponse
