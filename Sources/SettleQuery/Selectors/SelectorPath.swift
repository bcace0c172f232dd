package import SettleCore

/// The path from a value to a nested member: names separated by dots, and `\.` for a dot that belongs to a name.
///
///     "address.city"     the member `city` of the member `address`
///     "tags.0"           the first element of `tags`
///     "dotted\.key"      the member `dotted.key`
///     ""                 the value itself
package struct SelectorPath: Sendable {
    /// The path as written.
    package let spelling: String
    /// The names in order; `nil` for a path with an empty part, which has no destination.
    package let names: [String]?

    /// Parses a path.
    package init(_ spelling: String) {
        self.spelling = spelling
        names = spelling.isEmpty ? [] : Self.names(of: spelling)
    }

    /// Whether this is the document's id, which is compared by its bytes.
    var isID: Bool { spelling == "_id" }

    /// The path to a member of this path's destination.
    ///
    /// Paths are joined as text, as in CouchDB, so an empty path adds nothing and a trailing `\` escapes the dot.
    func member(_ name: String) -> SelectorPath {
        SelectorPath(spelling.isEmpty ? name : spelling + "." + name)
    }

    /// The destination of a path in a value.
    package enum Destination {
        /// A value.
        case value(JSONValue)
        /// An absent member of an object.
        case missing
        /// Inside a value that has no members, or past the end of an array.
        case astray
    }

    /// Follows the path.
    package func destination(in value: JSONValue) -> Destination {
        guard let names else { return .astray }
        var value = value
        for name in names {
            switch value {
            case .object(let members):
                guard let next = members[name] else { return .missing }
                value = next
            case .array(let elements):
                guard let index = Self.index(name), elements.indices.contains(index) else { return .astray }
                value = elements[index]
            default: return .astray
            }
        }
        return .value(value)
    }

    private static func names(of spelling: String) -> [String]? {
        var names: [[UInt8]] = [[]]
        var previous: UInt8 = 0
        for byte in spelling.utf8 {
            if byte == UInt8(ascii: "."), previous != UInt8(ascii: "\\") {
                names.append([])
            } else {
                names[names.count - 1].append(byte)
            }
            previous = byte
        }
        // A name that is only a backslash is the empty name; an empty part is invalid.
        guard !names.contains([]) else { return nil }
        return names.map { name in String(decoding: name.filter { $0 != UInt8(ascii: "\\") }, as: UTF8.self) }
    }

    /// A name as a part of a path: a backslash precedes each dot.
    static func escaped(_ name: String) -> String {
        String(name.flatMap { $0 == "." ? ["\\", $0] : [$0] })
    }

    /// The array index that a name denotes: decimal digits, perhaps with a sign.
    private static func index(_ name: String) -> Int? { Int(name) }
}
