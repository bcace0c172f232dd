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

    /// The method; a POST may say that it means another one.
    private static func method(of request: HTTPRequest) -> String {
        guard request.method == "POST", let override = request.headers["X-HTTP-Method-Override"] else {
            return request.method
        }
        return ["PUT", "DELETE", "GET", "HEAD", "POST", "COPY"].contains(override.uppercased())
            ? override.uppercased() : "POST"
    }
}
