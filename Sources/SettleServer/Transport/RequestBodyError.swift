/// Why a request's body could not be read.
enum RequestBodyError: Error {
    /// The body is larger than it may be.
    case tooLarge
}
