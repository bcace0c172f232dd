/// What the other end of a BLIP connection answers a request with that fails, or why a connection ends.
package struct BLIPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which list a code is from: `HTTP` for statuses, `BLIP` for the protocol's own.
    package let domain: String
    package let code: Int
    package let description: String

    package init(_ domain: String, _ code: Int, _ description: String) {
        (self.domain, self.code, self.description) = (domain, code, description)
    }

    /// An answer with an HTTP status.
    package static func http(_ status: Int, _ reason: String) -> BLIPError { BLIPError("HTTP", status, reason) }
    /// Nobody here handles requests of this profile.
    package static let noHandler = BLIPError("BLIP", 404, "no handler for message")
    /// The other end breaks the protocol, so that nothing it sends can be understood any more.
    package static func broken(_ rule: String) -> BLIPError { BLIPError("BLIP", 400, rule) }
    /// The connection has ended before the answer.
    package static let closed = BLIPError("BLIP", 504, "the connection was closed")
}
