internal import SettleCore
internal import SettlePlatform

/// What a request is about: the path and the query of its first line.
///
///     /groceries//a%2Fb?rev=1-x;revs      rawPath    /groceries//a%2Fb
///                                         segments   groceries, a/b
///                                         query      rev: 1-x, revs: (empty)
struct RequestTarget: Sendable {
    /// The path as it came.
    let rawPath: String
    /// The parts of the path, decoded; slashes that follow each other count as one.
    let segments: [String]
    /// The parameters in order, decoded; separated by `&` or `;`.
    let query: [(name: String, value: String)]

    /// Whether a part of the path is UTF-8; what is not was repaired, so that many would become one.
    func isUTF8(part index: Int) -> Bool {
        let parts = rawPath.split(separator: "/")
        return !parts.indices.contains(index) || PercentCoding.isUTF8(parts[index])
    }

    /// Reads a target.
    ///
    /// - Parameters:
    ///   - text: The target.
    ///   - plusIsBlank: Whether a plus in the path is a blank; in the query it always is.
    init(_ text: String, plusIsBlank: Bool = true) {
        let bytes = text.utf8
        let pathEnd = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        let path = text[..<pathEnd]
        rawPath = String(path)
        segments = path.utf8.split(separator: UInt8(ascii: "/")).map {
            PercentCoding.decode(Substring($0), plusIsBlank: plusIsBlank)
        }
        guard pathEnd != bytes.endIndex, bytes[pathEnd] == UInt8(ascii: "?") else {
            query = []
            return
        }
        let rest = text[bytes.index(after: pathEnd)...].utf8.prefix { $0 != UInt8(ascii: "#") }
        query = rest.split { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }.map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return (
                PercentCoding.decode(Substring(name), plusIsBlank: true),
                PercentCoding.decode(Substring(item[name.endIndex...].dropFirst()), plusIsBlank: true)
            )
        }
    }
}

// MARK: - QueryParameters

/// The parameters of a query; of those with one name the last counts.
struct QueryParameters: Sendable {
    let items: [(name: String, value: String)]

    init(_ items: [(name: String, value: String)]) { self.items = items }

    /// The value of a name.
    subscript(name: String) -> String? { items.last { $0.name == name }?.value }

    /// Whether a parameter is exactly `true`.
    func isTrue(_ name: String) -> Bool { self[name] == "true" }

    /// A parameter as JSON.
    func json(_ name: String) throws -> JSONValue? { try self[name].map { try JSONValue(parsing: $0) } }

    /// A revision.
    ///
    /// - Throws: ``HTTPError/invalidRevision``.
    func revision(_ name: String = "rev") throws -> WireRevision? { try self[name].map { try WireRevision($0) } }
}
