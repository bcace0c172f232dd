/// A request with what is known of it. Each of that is found out once.
struct RoutedRequest: Sendable {
    /// The request, with the method it means.
    var request: HTTPRequest
    /// The method it came with.
    let method: String
    /// The id by which it is found in a log: the client's, if it has CouchDB's form for one, else a new one.
    let id: String
    /// When its head, or all of it, had come.
    let start = ContinuousClock.now
    /// The route of its path, if there is one.
    let match: RouteTree.Match?
    /// The name of the database in its path.
    var database: String? { match?.parameters["db"] }
    /// Who sends it, once that is known.
    var user: User?
    /// Whether they may use the route.
    var isAllowed = false

    init(_ request: HTTPRequest, _ routes: RouteTree, _ ids: RequestIDs) {
        self.request = request
        self.request.method = Self.method(of: request)
        method = request.method
        let given = request.headers["X-Couch-Request-ID"]
        id = given.flatMap { RequestIDs.isID($0) ? $0 : nil } ?? ids.next()
        match = routes.match(request.target.segments)
    }

    /// Checks that no name got lost from the path of a deletion.
    ///
    /// Browsers and proxies resolve `/db/.` to `/db/` and `/db/doc/.` to `/db/doc/`. So a slash at the end may be all that is left
    /// of a document or an attachment, and what would be deleted is what contains it. PouchDB deletes databases by such a path,
    /// and declares the content type JSON, which a browser's or a tool's plain `DELETE` does not.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    func checkDeletion() throws {
        guard request.method == "DELETE", database != nil, request.target.rawPath.hasSuffix("/") else { return }
        let isDatabase = request.target.segments.count == 1
        if isDatabase, request.headers.bare("Content-Type") == "application/json" { return }
        throw HTTPError.badRequest(
            "The path of this DELETE ends with a slash, so a name may have been removed from it. Nothing was deleted.")
    }

    /// The method; a POST may say that it means another one.
    private static func method(of request: HTTPRequest) -> String {
        guard request.method == "POST", let override = request.headers["X-HTTP-Method-Override"] else {
            return request.method
        }
        return ["PUT", "DELETE", "GET", "HEAD", "POST", "COPY"].contains(override.uppercased())
            ? override.uppercased() : "POST"
    }
}
