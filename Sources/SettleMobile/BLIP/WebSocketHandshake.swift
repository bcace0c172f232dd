internal import SettleCrypto
internal import SettleDatabase
internal import SettlePlatform

/// The opening handshake of a WebSocket (RFC 6455, section 4).
package enum WebSocketHandshake {
    /// The sub-protocols that this library's client offers, newest first: BLIP with Couchbase Mobile's messages
    /// over revision trees.
    private static let offered = ["BLIP_3+CBMobile_3", "BLIP_3+CBMobile_2"]
    /// The sub-protocols that this library's server supports: the client's, and the one with version vectors.
    package static let served = ["BLIP_3+CBMobile_4"] + offered

    /// The value of `Sec-WebSocket-Accept` for a client's key.
    package static func accept(_ key: String) -> String {
        Base64.encode(SHA1.hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// The newest protocol that both the client and this library support; `nil` if they share no protocol.
    package static func choose(among offered: String) -> String? {
        let known = Set(offered.split(separator: ",").map { String($0).trimmingBlanks() })
        return served.first(where: known.contains)
    }

    /// A random key for a client.
    package static func key() -> String { Base64.encode(SecureRandom.bytes(16)) }

    /// The head of a client's request.
    package static func request(
        _ target: String, host: String, key: String, headers: [(name: String, value: String)]
    ) -> [UInt8] {
        let fields =
            [
                ("Host", host), ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Protocol", offered.joined(separator: ",")),
            ] + headers.map { ($0.name, $0.value) }
        let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Array("GET \(target) HTTP/1.1\r\n\(lines)\r\n".utf8)
    }

    /// A server's answer to that request.
    package struct Answer: Sendable {
        package let status: Int
        /// The header fields by lower-case name; the last one of each name.
        package let headers: [String: String]
        /// The bytes after the head.
        package let rest: [UInt8]

        /// Whether the server has accepted the key and one of the offered sub-protocols.
        package func agrees(to key: String) -> Bool {
            status == 101 && headers["sec-websocket-accept"] == WebSocketHandshake.accept(key)
                && offered.contains(headers["sec-websocket-protocol"] ?? "")
        }
    }

    /// Parses a server's answer; `nil` until its head is complete.
    ///
    /// - Throws: ``WebSocketError`` if the bytes are not HTTP, or the head is longer than 64 KiB.
    package static func answer(_ bytes: [UInt8]) throws(WebSocketError) -> Answer? {
        guard let end = bytes.firstIndex(of: Array("\r\n\r\n".utf8)) else {
            if bytes.count > 64 << 10 { throw .broken("the head of the answer is too long") }
            return nil
        }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw .broken("the answer is no HTTP")
        }
        let fields = lines.dropFirst().compactMap { line in
            line.firstIndex(of: ":").map { colon in
                (line[..<colon].lowercased(), String(line[line.index(after: colon)...]).trimmingBlanks())
            }
        }
        return Answer(
            status: status, headers: Dictionary(fields) { _, last in last }, rest: Array(bytes[(end + 4)...]))
    }
}
