/// A response as a handler gives it to a transport.
struct HTTPResponse: Sendable {
    /// What follows the header.
    enum Body: Sendable {
        /// All of it.
        case bytes([UInt8])
        /// Made while it is sent; of a length that may be known.
        case stream(any ResponseStream, length: Int64?)
        /// Another response, with a status and headers of its own, once it is there.
        case later(DeferredResponse)
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
