package import RevisionTree

/// The way from a value to a member inside it: names with dots between them, and `\.` for a dot that belongs to a name.
///
///     "address.city"     the member `city` of the member `address`
///     "tags.0"           the first element of `tags`
///     "dotted\.key"      the member `dotted.key`
///     ""                 the value itself
package struct SelectorPath: Sendable {
    /// The path as it is written.
    package let spelling: String
    /// The names in order; `nil` for a path with an empty part, which leads nowhere.
    package let names: [String]?

    /// Takes a path apart.
    package init(_ spelling: String) {
        self.spelling = spelling
        names = spelling.isEmpty ? [] : Self.names(of: spelling)
    }

    /// Whether this is the id of a document, which is compared by its bytes.
    var isID: Bool { spelling == "_id" }

    /// The path to a member of what this path leads to.
    ///
    /// Paths are joined as text, as in CouchDB, so an empty path adds nothing and a `\` at the end takes the dot.
    func member(_ name: String) -> SelectorPath {
        SelectorPath(spelling.isEmpty ? name : spelling + "." + name)
    }

    /// Where a path leads in a value.
    package enum Destination {
        /// To a value.
        case value(JSON)
        /// To a member that an object does not have.
        case missing
        /// Into something that has no members, or past the end of an array.
        case astray
    }

    /// Follows the path.
    package func destination(in value: JSON) -> Destination {
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
        // A name of nothing but a backslash is the empty name, an empty part is none.
        guard !names.contains([]) else { return nil }
        return names.map { name in String(decoding: name.filter { $0 != UInt8(ascii: "\\") }, as: UTF8.self) }
    }

    /// The index that a name is for an array: decimal digits, perhaps with a sign.
    private static func index(_ name: String) -> Int? { Int(name) }
}
