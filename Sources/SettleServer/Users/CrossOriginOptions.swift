internal import SettleHTTP
internal import SettlePlatform

/// Cross-origin requests that browsers allow (CORS).
public struct CrossOriginOptions: Sendable {
    /// The allowed origins, as `https://app.example.com`; `*` for all.
    public var origins: Set<String>
    /// Whether pages of these origins may send cookies and passwords; `false` by default. With the origin `*` they
    /// never may.
    public var allowsCredentials = false
    /// The methods that pages of these origins may use.
    public var methods = ["COPY", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]
    /// The headers that pages of these origins may send, in lower case.
    public var headers: Set<String> = [
        "accept", "accept-language", "authorization", "content-length", "content-range", "content-type", "destination",
        "expires", "if-match", "last-modified", "origin", "pragma", "x-couch-full-commit", "x-couch-id",
        "x-couch-persist", "x-couchdb-www-authenticate", "x-http-method-override", "x-requested-with",
    ]
    /// The time that a browser may cache a preflight, in whole seconds; 600 seconds by default.
    public var maximumAge: Duration = .seconds(600)

    /// Creates options for origins.
    public init(origins: Set<String>) { self.origins = origins }
}

// MARK: - Answers

extension CrossOriginOptions {
    /// The response to a browser's preflight request; `nil` if the request is not a preflight, or not an allowed
    /// one.
    func preflight(_ request: ServerRequest) -> HTTPResponse? {
        guard let origin = allowed(request), let method = request.headers["Access-Control-Request-Method"],
            methods.contains(method)
        else { return nil }
        let asked = request.headers["Access-Control-Request-Headers"] ?? ""
        let names = asked.split(separator: ",").map { String($0).trimmingBlanks().lowercased() }
        guard names.allSatisfy({ $0.isEmpty || headers.contains($0) }) else { return nil }
        var response = HTTPResponse(status: 204)
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Max-Age"] = String(maximumAge.wholeSeconds)
        response.headers["Access-Control-Allow-Methods"] = methods.joined(separator: ", ")
        if sendsCredentials { response.headers["Access-Control-Allow-Credentials"] = "true" }
        response.headers["Access-Control-Allow-Headers"] = asked
        return response
    }

    /// Adds the headers that allow a page of another origin to read the response.
    func apply(to response: inout HTTPResponse, _ request: ServerRequest) {
        response.headers.add("Vary", "Origin")
        guard let origin = allowed(request), response.headers["Access-Control-Allow-Origin"] == nil else { return }
        let simple: Set = ["cache-control", "content-language", "expires", "last-modified", "pragma"]
        let present = response.headers.fields.map { $0.name.lowercased() }.filter(simple.contains)
        let always = ["accept-ranges", "etag", "server", "x-couch-request-id", "x-couch-update-newrev"]
        response.headers["Access-Control-Allow-Origin"] = origin
        if sendsCredentials { response.headers["Access-Control-Allow-Credentials"] = "true" }
        response.headers["Access-Control-Expose-Headers"] =
            (["content-type"] + present + always + ["x-couchdb-body-time"]).joined(separator: ", ")
    }

    /// Whether a request comes from a page that may use cookies and passwords here.
    func trusts(_ request: ServerRequest) -> Bool { sendsCredentials && allowed(request) != nil }

    private var sendsCredentials: Bool { allowsCredentials && !origins.contains("*") }

    /// The origin of a request, if it is allowed. The whole origin is compared, so that a part of a name never
    /// matches.
    private func allowed(_ request: ServerRequest) -> String? {
        guard let origin = request.headers["Origin"], !origin.isEmpty,
            origins.contains("*") || origins.contains(origin)
        else { return nil }
        return origin
    }
}
