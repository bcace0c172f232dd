import SettleCore

/// JSON pointers (RFC 6901) in a schema.
enum SchemaPointer {
    /// A name escaped for a pointer.
    static func escape(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The names and indexes of a pointer; `nil` if it is invalid.
    static func tokens(_ pointer: String) -> [String]? {
        if pointer.isEmpty { return [] }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        for part in pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var bytes: [UInt8] = []
            var rest = part[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "~") else {
                    bytes.append(byte)
                    continue
                }
                switch rest.popFirst() {
                case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
                default: return nil
                }
            }
            tokens.append(String(decoding: bytes, as: UTF8.self))
        }
        return tokens
    }

    /// The part of a value at a pointer.
    static func find(_ tokens: [String], in root: JSONValue) -> JSONValue? {
        var value = root
        for token in tokens {
            let isPlain = token == "0" || !(token.hasPrefix("0") || token.hasPrefix("+"))
            guard let next = value[token] ?? (isPlain ? Int(token).flatMap { value[$0] } : nil) else { return nil }
            value = next
        }
        return value
    }

    /// The text of a URI fragment without its percent escapes; `nil` if one is invalid.
    static func decodeFragment(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, !digits.hasPrefix("+"), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
