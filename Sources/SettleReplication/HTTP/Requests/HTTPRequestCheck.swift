/// Rejects invalid requests: a line break in a header would let its author inject another request.
enum HTTPRequestCheck {
    /// Headers that the client sets, from the body and the address.
    private static let own: Set = ["host", "content-length", "transfer-encoding", "connection", "expect"]

    /// - Throws: ``TransportError`` with code `badRequest`.
    static func check(_ request: TransportRequest) throws(TransportError) {
        guard isToken(request.method) else { throw TransportError(.badRequest, "a method is one word") }
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
