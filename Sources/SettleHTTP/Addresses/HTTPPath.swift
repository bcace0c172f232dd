package import SettleCore
internal import SettlePlatform

/// A path below a database or a server, percent-encoded as CouchDB expects it.
///
///     HTTPPath.document("a/b")                        // a%2Fb
///     HTTPPath.document("_design/shop")               // _design/shop: this slash stays
///     HTTPPath.attachment("photo.jpg", of: "a/b")     // a%2Fb/photo.jpg
///     "_changes" as HTTPPath                          // an endpoint, as it is
package struct HTTPPath: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The percent-encoded path, without a leading slash.
    package let encoded: String

    /// Creates the path of an endpoint from its name, unchanged.
    package init(stringLiteral value: String) { encoded = value }

    private init(encoded: String) { self.encoded = encoded }

    /// Percent-encodes segments and joins them with slashes.
    package init(segments: [String]) {
        encoded = segments.map(Self.escape).joined(separator: "/")
    }

    /// The path of a document; the slash of `_design/` and `_local/` is not encoded.
    package static func document(_ id: DocumentID) -> HTTPPath {
        for prefix in ["_design/", "_local/"] where id.string.utf8.starts(with: prefix.utf8) {
            let name = String(decoding: id.string.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
            return HTTPPath(encoded: prefix + escape(name))
        }
        return HTTPPath(encoded: escape(id.string))
    }

    /// The path of an endpoint about a document, below its database.
    package static func endpoint(_ name: HTTPPath, about id: DocumentID) -> HTTPPath {
        HTTPPath(encoded: name.encoded + "/" + document(id).encoded)
    }

    /// The path of an attachment; slashes in its name are encoded.
    package static func attachment(_ name: String, of id: DocumentID) -> HTTPPath {
        HTTPPath(encoded: document(id).encoded + "/" + escape(name))
    }

    /// Whether servers, proxies and browsers agree on the resource that a path names.
    ///
    /// Proxies resolve the segments `.` and `..`, even escaped ones, and may drop an empty last segment. So the
    /// path of the document `.` becomes that of its database, and the path of an attachment `.` that of its
    /// document.
    package var isExact: Bool { Self.isExact(encoded) }

    /// Whether servers, proxies and browsers agree on the resource that a percent-encoded path names; see
    /// ``isExact``.
    static func isExact(_ path: String) -> Bool {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return segments.allSatisfy { ![".", ".."].contains(PercentCoding.decode($0)) }
            && (segments.count == 1 || segments.last?.isEmpty == false)
    }

    /// Escapes `.` and `..` too, which would mean this folder and its parent.
    private static func escape(_ segment: String) -> String {
        if segment == "." { return "%2E" }
        if segment == ".." { return "%2E%2E" }
        return PercentCoding.encode(segment)
    }

    /// The percent-encoded path.
    package var description: String { encoded }
}

// MARK: - HTTPQuery

/// Query parameters: names and values in order. If a name occurs several times, its last value counts.
///
///     var query: HTTPQuery = ["style": "all_docs"]
///     query["since"] = "12-xyz"
package struct HTTPQuery: Sendable, ExpressibleByDictionaryLiteral {
    /// The names and values, decoded.
    package private(set) var items: [(name: String, value: String)]

    /// Creates an empty query.
    package init() { items = [] }

    /// Creates a query from names and values.
    package init(dictionaryLiteral elements: (String, String)...) {
        items = elements.map { (name: $0.0, value: $0.1) }
    }

    /// Reads `name=value` pairs separated by `&` or `;`, as in URLs and forms. A plus means a blank.
    package init(form text: Substring) {
        items = text.utf8.split { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }.map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return (
                PercentCoding.decode(Substring(name), plusIsBlank: true),
                PercentCoding.decode(Substring(item[name.endIndex...].dropFirst()), plusIsBlank: true)
            )
        }
    }

    /// The last value of a name; setting it replaces all values, and `nil` removes them.
    package subscript(name: String) -> String? {
        get { items.last { $0.name == name }?.value }
        set {
            let index = items.firstIndex { $0.name == name } ?? items.count
            items.removeAll { $0.name == name }
            if let newValue { items.insert((name: name, value: newValue), at: index) }
        }
    }

    /// The encoded query; `nil` if it is empty.
    package var encoded: String? {
        guard !items.isEmpty else { return nil }
        return items.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
    }
}
