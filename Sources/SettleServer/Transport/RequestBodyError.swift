/// Why a request's body could not be read.
enum RequestBodyError: Error {
    /// The client is gone, or too slow.
    case interrupted
    /// The body is larger than it may be.
    case tooLarge
}
