internal import SettleHTTP
internal import SettlePlatform

/// Entity tags, with which clients avoid repeated downloads.
enum EntityTag {
    /// The tag of a revision.
    static func of(_ revision: String) -> String { "\"\(revision)\"" }

    /// The response 304, if the client has the tag already.
    ///
    /// Tags are compared weakly (RFC 9110, 8.8.3.2), because a proxy that compresses a response weakens its tag.
    static func notModified(_ tag: String, _ request: ServerRequest) -> HTTPResponse? {
        guard let given = request.headers["If-None-Match"], matches(given[...], tag) else { return nil }
        return HTTPResponse(status: 304, headers: ["ETag": tag])
    }

    /// Whether a write must not change an existing document or attachment: `If-None-Match: *`.
    static func asksForCreation(_ request: ServerRequest) -> Bool {
        request.headers["If-None-Match"]?.trimmingBlanks() == "*"
    }

    /// Whether a list of tags contains a tag, or is `*`.
    private static func matches(_ list: Substring, _ tag: String) -> Bool {
        var rest = list.drop(while: isSeparator)
        if rest.prefix(while: { !isSeparator($0) }) == "*" {
            return rest.dropFirst().allSatisfy(isSeparator)
        }
        while !rest.isEmpty {
            if rest.hasPrefix("W/") { rest = rest.dropFirst(2) }
            let next: Substring
            if rest.first == "\"" {
                // A comma in quotes is not a separator.
                let inside = rest.dropFirst().prefix { $0 != "\"" }
                next = rest[..<(rest.index(inside.endIndex, offsetBy: 1, limitedBy: rest.endIndex) ?? rest.endIndex)]
            } else {
                next = rest.prefix { !isSeparator($0) }
            }
            if next == tag { return true }
            rest = rest[next.endIndex...].drop(while: isSeparator)
        }
        return false
    }

    private static func isSeparator(_ character: Character) -> Bool {
        character == "," || character == " " || character == "\t"
    }
}
