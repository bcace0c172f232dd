/// The path to a member, spelled as a JSON Pointer.
package struct MergePath {
    /// The path as shown in decisions: an element of an array merged by identity is named by its identity.
    let shown: String
    /// The path for looking up rules, without such elements.
    let rule: String
    /// The number of enclosing arrays and objects.
    let depth: Int

    /// The document itself.
    static let root = MergePath(shown: "", rule: "", depth: 0)

    /// The path to a member of an object.
    func member(_ name: String) -> MergePath {
        let step = "/" + Self.escaped(name)
        return MergePath(shown: shown + step, rule: rule + step, depth: depth + 1)
    }

    /// The path to an element of an array.
    func element(_ identity: JSONValue) -> MergePath {
        let step = "/" + Self.escaped(identity.string ?? identity.description)
        return MergePath(shown: shown + step, rule: rule, depth: depth + 1)
    }

    /// The JSON Pointer step for one name.
    static func step(_ name: String) -> [UInt8] { [UInt8(ascii: "/")] + escaped(name).utf8 }

    /// The JSON Pointer of a member inside another one.
    package static func pointer(_ path: String, _ name: String) -> String { path + "/" + escaped(name) }

    private static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "~"): bytes += "~0".utf8
            case UInt8(ascii: "/"): bytes += "~1".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a text is the JSON Pointer of a member.
    static func isPointer(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "/") else { return false }
        return bytes.indices.allSatisfy { index in
            guard bytes[index] == UInt8(ascii: "~") else { return true }
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            return next == UInt8(ascii: "0") || next == UInt8(ascii: "1")
        }
    }
}
