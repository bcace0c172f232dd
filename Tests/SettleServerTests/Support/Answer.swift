import Settle
import SettleHTTP

@testable import SettleServer

/// A complete answer.
struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONValue(utf8: body)) ?? .null }
    /// The error's name and reason, as `name: reason`.
    var error: String { "\(json["error"]?.string ?? ""): \(json["reason"]?.string ?? "")" }
    /// The non-empty lines of a feed.
    var lines: [JSONValue] { text.split(separator: "\n").compactMap { try? JSONValue(parsing: String($0)) } }
}
