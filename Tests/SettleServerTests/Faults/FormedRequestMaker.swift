import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettleTesting

@testable import SettleServer

/// Makes nearly valid requests: of a known form, with a body of the right kind; then sometimes broken.
struct FormedRequestMaker {
    var grammar: Grammar

    mutating func next() -> FormedRequest {
        let sender = grammar.choices.element(of: [
            FormedRequest.Sender.admin, .admin, .admin, .member, .member, .nobody,
        ])
        var (bytes, method, target) = request(sender)
        var isWhole = true
        if grammar.choices.oneIn(16) {
            bytes += request(sender).bytes
            isWhole = false
        }
        if grammar.choices.oneIn(4) {
            isWhole = false
            for _ in 0...grammar.choices.below(3) { spoil(&bytes) }
        }
        let isEndless = RequestTarget(target).query.items.contains {
            $0.name == "heartbeat" || ["continuous", "eventsource", "longpoll"].contains($0.value)
        }
        return FormedRequest(
            bytes: bytes, sender: sender, method: method, target: target, isWhole: isWhole, isEndless: isEndless)
    }

    private mutating func request(_ sender: FormedRequest.Sender) -> (bytes: [UInt8], method: String, target: String) {
        let form = grammar.choices.element(of: RequestForm.all)
        var method =
            grammar.choices.oneIn(25)
            ? grammar.choices.element(of: ["PUT", "POST", "DELETE", "GET", "COPY", "OPTIONS"])
            : grammar.choices.element(of: form.methods)
        var target = filled(form.path)
        let count = form.query.isEmpty ? 0 : grammar.choices.below(4)
        let query = (0..<count).map { _ in filled(grammar.choices.element(of: form.query)) }
        if !query.isEmpty { target += "?" + query.joined(separator: grammar.choices.oneIn(20) ? ";" : "&") }
        if grammar.choices.oneIn(15) { target = respelled(target) }
        var fields = ["Host: test"]
        switch sender {
        case .admin: fields.append("Authorization: Basic YWRtaW46YWRtaW4=")
        case .member: fields.append("Authorization: Basic bWlhOnB3")
        case .nobody: break
        }
        var body = ["PUT", "POST"].contains(method) || grammar.choices.oneIn(30) ? content(form, &fields) : nil
        if method == "COPY" {
            fields.append(
                "Destination: \(grammar.name())\(grammar.choices.oneIn(3) ? "?rev=\(grammar.revision())" : "")")
        }
        for _ in 0..<grammar.choices.below(3) { fields.append(field()) }
        if grammar.choices.oneIn(40) {
            fields.append("X-HTTP-Method-Override: \(method)")
            method = "POST"
            body = body ?? []
        }
        if let plain = body, grammar.choices.oneIn(12) {
            body = compressed(plain)
            fields.append("Content-Encoding: gzip")
        }
        let head = "\(method) \(target) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n"
        return (framed(head, body), method, target)
    }

    private mutating func filled(_ text: String) -> String {
        var text = text
        for (place, make) in Self.places {
            while text.contains(place) { text = text.replacingFirst(place, with: make(&grammar)) }
        }
        return text
    }

    private static let places: [(String, @Sendable (inout Grammar) -> String)] = [
        ("{db}", { $0.database() }), ("{doc}", { $0.name() }), ("{file}", { $0.file() }), ("{rev}", { $0.revision() }),
        ("{n}", { $0.choices.element(of: ["0", "1", "2", "10", "99999999999999999999", "-1"]) }),
    ]

    /// The same target with escaped letters or doubled slashes.
    private mutating func respelled(_ target: String) -> String {
        var result = ""
        for character in target {
            guard let byte = character.asciiValue, grammar.choices.oneIn(8) else {
                result.append(character)
                continue
            }
            if byte == UInt8(ascii: "/") {
                result += "//"
            } else if character.isLetter {
                result += "%" + String(byte, radix: 16)
            } else {
                result.append(character)
            }
        }
        return result
    }

    private mutating func field() -> String {
        grammar.choices.element(of: [
            "Accept: application/json", "Accept: multipart/mixed", "Accept: */*",
            "Accept: multipart/related;q=0, text/*",
            "Accept-Encoding: gzip", "If-Match: \"\(grammar.revision())\"", "If-None-Match: \"\(grammar.revision())\"",
            "Range: bytes=\(grammar.choices.element(of: ["0-0", "1-", "-2", "0-1,3-4", "5-2", "-", "9999999999999999999-"]))",
            "Expect: 100-continue", "Connection: close", "Last-Event-ID: 1", "X-Couch-Full-Commit: false",
            "Origin: http://a.b",
            "Cookie: AuthSession=bWlhOjY1RjAwMDAwOmFiY2RlZmdoaWprbG1ub3BxcnN0", "X-CouchDB-WWW-Authenticate: Cookie",
            "Referer: http://test/",
        ])
    }

    private func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        try? bytes.withUnsafeBytes { try Gzip(.compress).process($0, isLast: true) { result += $0 } }
        return result
    }

    private mutating func framed(_ head: String, _ body: [UInt8]?) -> [UInt8] {
        guard let body else { return Array("\(head)\r\n".utf8) }
        guard grammar.choices.oneIn(5) else {
            return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
        }
        var bytes = Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8)
        var rest = body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(1 + grammar.choices.below(max(rest.count, 1)))
            bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
            rest = rest.dropFirst(piece.count)
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }

    private mutating func spoil(_ bytes: inout [UInt8]) {
        guard bytes.count > 4 else { return }
        let position = grammar.choices.below(grammar.choices.oneIn(2) ? min(bytes.count, 120) : bytes.count)
        let lines = bytes.indices.filter { bytes[$0] == 10 }
        switch grammar.choices.below(7) {
        case 0: bytes[position] ^= 1 << UInt8(grammar.choices.below(8))
        case 1:
            bytes[position] = grammar.choices.element(of: [0, 9, 10, 13, 32, 0x22, 0x25, 0x2F, 0x3A, 0x7F, 0x80, 0xFF])
        case 2: bytes.removeLast(bytes.count - position)
        case 3: bytes.removeSubrange(position..<min(position + 1 + grammar.choices.below(8), bytes.count))
        case 4 where lines.count > 2:
            // Repeats a line, often one of the header.
            let index = grammar.choices.below(min(lines.count - 1, 6))
            bytes.insert(contentsOf: Array(bytes[lines[index] + 1...lines[index + 1]]), at: lines[index] + 1)
        case 5 where lines.count > 1:
            let wrong = grammar.choices.element(of: [
                "Content-Length: 7\r\n", "Transfer-Encoding: chunked\r\n", "X-\u{E4}: \u{1}\r\n",
            ])
            bytes.insert(contentsOf: Array(wrong.utf8), at: lines[0] + 1)
        default: bytes.insert(UInt8(grammar.choices.below(256)), at: position)
        }
    }
}

extension String {
    fileprivate func replacingFirst(_ part: String, with other: String) -> String {
        guard let range = range(of: part) else { return self }
        return replacingCharacters(in: range, with: other)
    }
}
