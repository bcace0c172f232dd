/// Tags by which clients tell whether they have something already.
enum EntityTag {
    /// The tag of a revision.
    static func of(_ revision: String) -> String { "\"\(revision)\"" }

    /// The answer 304 when the client says it has the tag.
    static func notModified(_ tag: String, _ request: HTTPRequest) -> HTTPResponse? {
        guard let given = request.headers["If-None-Match"] else { return nil }
        let tags = given.split { $0 == "," || $0 == " " }
        guard tags.contains(where: { $0 == tag }) else { return nil }
        return HTTPResponse(status: 304, headers: ["ETag": tag])
    }
}
