public import RevisionTree
internal import SettlePlatform

/// A path below a database or a server, with the escapes that CouchDB wants.
///
///     HTTPPath.document("a/b")                        // a%2Fb
///     HTTPPath.document("_design/shop")               // _design/shop: this slash stays
///     HTTPPath.attachment("photo.jpg", of: "a/b")     // a%2Fb/photo.jpg
///     "_changes" as HTTPPath                          // an endpoint, as it is
public struct HTTPPath: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The path with its escapes, without a slash in front.
    public let encoded: String

    /// Takes the name of an endpoint as it stands in the program's text.
    public init(stringLiteral value: String) { encoded = value }

    private init(encoded: String) { self.encoded = encoded }

    /// Parts of which each is escaped, and which slashes part.
    public init(segments: [String]) {
        encoded = segments.map(Self.escape).joined(separator: "/")
    }

    /// The path of a document; the slash of `_design/` and `_local/` is none of the id's own.
    public static func document(_ id: DocumentID) -> HTTPPath {
        for prefix in ["_design/", "_local/"] where id.string.utf8.starts(with: prefix.utf8) {
            let name = String(decoding: id.string.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
            return HTTPPath(encoded: prefix + escape(name))
        }
        return HTTPPath(encoded: escape(id.string))
    }

    /// The path of an attachment; slashes of its name are escaped.
    public static func attachment(_ name: String, of id: DocumentID) -> HTTPPath {
        HTTPPath(encoded: document(id).encoded + "/" + escape(name))
    }

    /// `.` and `..` would be taken for this folder and the one above.
    private static func escape(_ segment: String) -> String {
        if segment == "." { return "%2E" }
        if segment == ".." { return "%2E%2E" }
        return PercentCoding.encode(segment)
    }

    /// The path with its escapes.
    public var description: String { encoded }
}
