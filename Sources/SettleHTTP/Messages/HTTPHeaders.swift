internal import SettlePlatform

/// The header fields of a request or a response, in order; names are case-insensitive.
public struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    /// The fields in order; a name may occur several times.
    public private(set) var fields: [(name: String, value: String)]

    /// Creates headers without fields.
    public init() { fields = [] }

    /// Creates headers from names and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The first value of a name; setting it replaces all values, and `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.matches($0.name, name) }?.value }
        set {
            fields.removeAll { Self.matches($0.name, name) }
            if let newValue { fields.append((name: name, value: newValue)) }
        }
    }

    /// All values of a name, in order.
    public func all(_ name: String) -> [String] { fields.filter { Self.matches($0.name, name) }.map(\.value) }

    /// Adds a field, and keeps other fields of the same name.
    public mutating func add(_ name: String, _ value: String) { fields.append((name: name, value: value)) }

    /// Adds the fields of other headers, replacing fields of the same names.
    package mutating func merge(_ other: HTTPHeaders) {
        for field in other.fields { self[field.name] = nil }
        fields += other.fields
    }

    /// The fields with the given names.
    func only(_ names: [String]) -> HTTPHeaders {
        var kept = HTTPHeaders()
        kept.fields = fields.filter { field in names.contains { Self.matches($0, field.name) } }
        return kept
    }

    /// The part of a value before its parameters, without surrounding blanks.
    package func bare(_ name: String) -> String? {
        self[name].map { String(Substring($0.utf8.prefix { $0 != UInt8(ascii: ";") })).trimmingBlanks() }
    }

    /// The value of a cookie. If a name occurs several times, the first one counts.
    package func cookie(_ name: String) -> String? {
        for field in fields where Self.matches(field.name, "Cookie") {
            for pair in field.value.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, String(parts[0]).trimmingBlanks() == name {
                    return String(parts[1]).trimmingBlanks().filter { $0 != "\"" }
                }
            }
        }
        return nil
    }

    /// Whether `Accept` allows a media type, by CouchDB's rules: by its name or a star; a quality counts only if it
    /// is 0.
    package func accepts(_ type: String) -> Bool {
        guard let header = self["Accept"] else { return true }
        let main = type.prefix { $0 != "/" }
        return header.split(separator: ",").contains { item in
            let parts = item.split(separator: ";").map { String($0).trimmingBlanks() }
            guard let name = parts.first else { return false }
            if parts.dropFirst().contains(where: { $0 == "q=0" || $0 == "q=0.0" }) { return false }
            return name == type || name == "*/*" || name == "\(main)/*"
        }
    }

    private static func matches(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // Names are ASCII. Most have the same case, and Swift compares such strings much faster.
        return left == right || zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
    /// The names only, because values may be secret.
    public var description: String { fields.map(\.name).joined(separator: ", ") }

    /// The names only.
    public var customMirror: Mirror { Mirror(self, children: ["names": description], displayStyle: .struct) }
}

// MARK: - HTTPSyntax

/// The characters that are allowed in a head (RFC 9110, section 5).
package enum HTTPSyntax {
    /// Whether text is a token, like methods and the names of header fields.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Whether text can be the value of a header field. It contains no control characters except tabs, so it can't
    /// end the line.
    package static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
