import Foundation
import Settle
import SettleDatabase
import SettleTesting

extension SeededRandom {
    /// A random element of a nonempty array.
    mutating func element<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }
}

/// Parts of valid requests: names, revisions, JSON, and bodies of documents; a few of them odd.
struct Grammar {
    var choices: SeededRandom
    /// Revisions that the server has returned, newest last.
    let revisions: [String]

    static let databases = ["db", "two", "a%2Fb", "none", "_users", "_replicator", "Bad", "%C3%A4"]
    static let names = [
        "a", "a", "b", "c", "d", "e%20f", "%C3%A4", "e%CC%81", "x%2Fy", "_design%2Fd", "+", "%00", "%FF", "~", "0",
        "org.couchdb.user:mia", "org.couchdb.user:new", "..", "%E2%80%A8", "_odd",
    ]
    static let files = ["x", "x", "y.txt", "z/z.json", "%C3%A9", "e%CC%81", "_odd", "%FF", "a%2Fb"]
    private static let types = [
        "image/x", "text/plain", "application/json", "text/plain; charset=utf-8", "", "a\u{E9}",
    ]

    mutating func database() -> String {
        choices.oneIn(4) ? choices.element(of: Self.databases) : choices.element(of: ["db", "db", "db", "two"])
    }

    mutating func name() -> String {
        if choices.oneIn(60) { return String(repeating: "n", count: 3000) }
        return choices.oneIn(2) ? "d\(choices.below(40))" : choices.element(of: Self.names)
    }

    mutating func file() -> String { choices.element(of: Self.files) }

    /// The name as a body has it.
    mutating func id() -> String { choices.oneIn(12) ? "_local/" + plainName() : plainName() }

    private mutating func plainName() -> String { name().removingPercentEncoding ?? "b\u{FFFD}" }

    mutating func revision() -> String {
        switch choices.below(12) {
        case 0: choices.element(of: ["1-a", "0-1", "x", "", "1-", "-1", "99999999999999999999-a", "2-\u{E4}", "0-0"])
        case 1:
            "\(choices.below(4) + 1)-\(String(repeating: choices.element(of: ["a", "b", "0f"]), count: 16 << choices.below(2)))"
        default: revisions.isEmpty ? "1-967a00dff5e02add41819138abb3284d" : choices.element(of: revisions)
        }
    }

    /// Any JSON value.
    mutating func value(_ depth: Int = 3) -> String {
        switch choices.below(depth > 0 ? 10 : 7) {
        case 0: return choices.element(of: ["null", "true", "false"])
        case 1:
            return choices.element(of: [
                "0", "-0", "1e3", "1.5", "-0.0", "1e-7", "12345678901234567890123", "1E40", "5e-324",
            ])
        case 2...4:
            return text(
                choices.element(of: ["", "x", "\u{E4}\u{1F600}", "a\nb", "\u{0}", "long long text", "ok", "a@b"]))
        case 5: return "\"\\u00e4\\ud83d\\ude00\\/\""
        case 6: return "\(choices.below(1000))"
        case 7: return "[" + (0..<choices.below(4)).map { _ in value(depth - 1) }.joined(separator: ",") + "]"
        case 8: return object((0..<choices.below(4)).map { ("k\($0 / 2)", value(depth - 1)) })
        default: return String(repeating: "[", count: 50) + String(repeating: "]", count: 50)
        }
    }

    /// Text as JSON.
    func text(_ text: String) -> String { JSONValue.string(text).description }

    func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(text($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }

    mutating func list(_ most: Int, _ element: (inout Grammar) -> String) -> String {
        "[" + (0..<choices.below(most + 1)).map { _ in element(&self) }.joined(separator: ",") + "]"
    }

    /// A document, as JSON text.
    mutating func document(hasID: Bool) -> String {
        var members: [(String, String)] = []
        if hasID, !choices.oneIn(6) { members.append(("_id", text(id()))) }
        if choices.oneIn(4) { members.append(("_rev", text(revision()))) }
        if choices.oneIn(8) { members.append(("_deleted", choices.element(of: ["true", "false", "1"]))) }
        if choices.oneIn(4) { members.append(("_attachments", attachments())) }
        if choices.oneIn(10) {
            let ids = list(4) { $0.text($0.choices.element(of: ["a", "b", String(repeating: "c", count: 32)])) }
            members.append(("_revisions", object([("start", "\(choices.below(6))"), ("ids", ids)])))
        }
        if choices.oneIn(12) {
            members.append((choices.element(of: ["_conflicts", "_odd", "_local_seq", "_revs_info"]), value()))
        }
        for _ in 0..<choices.below(4) {
            members.append((choices.element(of: ["v", "w", "name", "type", "\u{E4}", ""]), value()))
        }
        return object(members)
    }

    private mutating func attachments() -> String {
        object(
            (0..<choices.below(3)).map { _ in
                let data = choices.element(of: ["eA==", "", "aGVsbG8=", "!!", "YWJj\\nZGVm"])
                let content = choices.element(of: [
                    [("data", "\"\(data)\"")], [("data", "\"\(data)\"")], [("stub", "true")],
                    [("stub", "true"), ("revpos", "\(choices.below(3))")], [("follows", "true"), ("length", "3")],
                ])
                return (
                    file().removingPercentEncoding ?? "f",
                    object([("content_type", text(choices.element(of: Self.types)))] + content)
                )
            })
    }

    /// A user's document.
    mutating func user() -> String {
        object([
            ("name", text(choices.element(of: ["mia", "new", "_x", "a:b"]))),
            ("type", choices.element(of: ["\"user\"", "\"x\"", "1"])),
            ("roles", choices.element(of: ["[]", "[\"r\"]", "[\"_admin\"]", "null"])),
            ("password", choices.element(of: ["\"pw\"", "\"\"", "1"])),
        ])
    }

    /// A document with its attachments as multipart, with the boundary `b`.
    mutating func parts() -> String {
        let follows = object([("follows", "true"), ("length", choices.element(of: ["3", "3", "3", "9", "0"]))])
        let names = choices.element(of: [["x"], ["x", "y"], ["\u{E9}", "e\u{301}"], []])
        let json = object([("_attachments", object(names.map { ($0, follows) })), ("_rev", text(revision()))])
        let contents = names.map { _ in "\r\n--b\r\nContent-Type: image/x\r\n\r\nabc" }.joined()
        return "--b\r\nContent-Type: application/json\r\n\r\n\(json)\(contents)\r\n--b--"
    }
}
