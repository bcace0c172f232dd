/// Rejects invalid requests: a line break in a header would let its author inject another request, and a path that a proxy
/// resolves would let the author of a document's id have something else written or deleted.
enum HTTPRequestCheck {
    /// Headers that the client sets, from the body and the address.
    private static let own: Set = ["host", "content-length", "transfer-encoding", "connection", "expect"]

    /// - Throws: ``TransportError`` with code `badRequest`, or `badURL` for a write to a path that is not exact.
    static func check(_ request: TransportRequest) throws(TransportError) {
        guard isToken(request.method) else { throw TransportError(.badRequest, "a method is one word") }
        guard ["GET", "HEAD", "OPTIONS"].contains(request.method) || HTTPPath.isExact(request.url.path) else {
            throw TransportError(
                .badURL,
                """
                a name in \(request.url.path) is empty, "." or "..", which proxies remove from a path; nothing was sent
                """)
        }
        if !request.body.isNone, ["GET", "HEAD"].contains(request.method) {
            throw TransportError(.badRequest, "\(request.method) has no body")
        }
        for field in request.headers.fields {
            guard isToken(field.name) else { throw TransportError(.badRequest, "the name of a header is one word") }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == UInt8(ascii: "\t") }) else {
                throw TransportError(.badRequest, "the header \(field.name) has characters that end a line")
            }
            guard !own.contains(field.name.lowercased()) else {
                throw TransportError(.badRequest, "the header \(field.name) is set by the client itself")
            }
        }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                default: Array("!#$%&'*+-.^_`|~".utf8).contains(byte)
                }
            }
    }
}
