internal import SettlePlatform

/// The target of a request: the path and the query in its first line.
///
///     /groceries//a%2Fb?rev=1-x;revs      rawPath    /groceries//a%2Fb
///                                         segments   groceries, a/b
///                                         query      rev: 1-x, revs: (empty)
package struct RequestTarget: Sendable {
    /// The path as it was received.
    package let rawPath: String
    /// The decoded segments of the path. Consecutive slashes count as one.
    package let segments: [String]
    /// The parameters.
    package let query: HTTPQuery

    /// Whether a segment of the path is UTF-8. Other segments were repaired, so different ones may have become
    /// equal.
    package func isUTF8(part index: Int) -> Bool {
        let parts = rawPath.split(separator: "/")
        return !parts.indices.contains(index) || PercentCoding.isUTF8(parts[index])
    }

    /// Parses a target.
    ///
    /// - Parameters:
    ///   - text: The target.
    ///   - plusIsBlank: Whether a plus in the path means a blank. In the query it always does.
    package init(_ text: String, plusIsBlank: Bool = true) {
        let bytes = text.utf8
        let pathEnd = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        let path = text[..<pathEnd]
        rawPath = String(path)
        segments = path.utf8.split(separator: UInt8(ascii: "/")).map {
            PercentCoding.decode(Substring($0), plusIsBlank: plusIsBlank)
        }
        let hasQuery = pathEnd != bytes.endIndex && bytes[pathEnd] == UInt8(ascii: "?")
        query =
            hasQuery
            ? HTTPQuery(form: Substring(bytes[bytes.index(after: pathEnd)...].prefix { $0 != UInt8(ascii: "#") }))
            : HTTPQuery()
    }
}
