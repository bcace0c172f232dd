/// What became of a request, once it is over.
struct RequestRecord: Sendable {
    let target: RequestTarget
    let method: String
    /// The address it came from.
    let peer: String
    /// The id in the answer's header, where a handler made it.
    let id: String?
    /// Who asked, once that was known.
    let user: String?
    /// The status of the answer; `nil` when the client was gone before there was one.
    let status: Int?
    /// How many bytes of the answer's body were handed to the connection.
    let bytes: Int64
    /// From the first line to the end.
    let duration: Duration
    /// Whether the connection ended before the answer did.
    let isCut: Bool
}
