/// A request as a transport hands it on.
struct HTTPRequest: Sendable {
    /// Why a request's body could not be read.
    enum BodyError: Error {
        /// The body is larger than it may be.
        case tooLarge
    }

    /// The method, spelled as given.
    var method: String
    /// Path and query.
    let target: RequestTarget
    /// The header fields.
    let headers: HTTPHeaders
    /// The body, which has come as a whole.
    var body: any RequestBody
    /// The address it comes from, without a port.
    var peer = ""
}
