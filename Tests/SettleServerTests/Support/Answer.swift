import Settle

@testable import SettleServer

/// A complete answer.
struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSON { (try? JSON(utf8: body)) ?? .null }
    /// The error's name and reason, as `name: reason`.
    var error: String { "\(json["error"]?.string ?? ""): \(json["reason"]?.string ?? "")" }
    /// The non-empty lines of a feed.
    var lines: [JSON] { text.split(separator: "\n").compactMap { try? JSON(parsing: String($0)) } }
}
