internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Applies the rules for all responses: errors and their log, challenges, and headers.
final class ResponseRules: Sendable {
    private let options: ServerOptions
    private let live: Guarded<LiveSettings>
    private let metrics: Metrics
    /// The value of the header `Server`.
    private let product: String
    /// The number of requests that were refused because the server was busy, since the last log line about them.
    private let refusals = Guarded((count: 0, next: ContinuousClock.now))

    init(_ options: ServerOptions, _ live: Guarded<LiveSettings>, _ metrics: Metrics) {
        (self.options, self.live, self.metrics, product) = (options, live, metrics, options.serverHeader)
    }

    /// The response for an error, which is logged if it is the server's fault and the caller does not get it itself.
    func failure(_ error: any Error, _ call: RoutedRequest) -> HTTPResponse {
        let told = HTTPError(error)
        let isThrown = options.trustsWriters && InProcessServer.isThrown(error)
        if told.status >= 500, told.status != 501, !isThrown {
            // The message of an HTTP error is meant for clients. Details of other errors go only to the log.
            let reason = error is HTTPError ? told.reason : "\(error)"
            let count = told.headers["Retry-After"] == nil ? 1 : refused()
            let others = count > 1 ? " (\(count) times since the last line)" : ""
            if count > 0 {
                options.log?.warning("\(told.status) \(told.error): \(reason)\(others)", ["id": call.id])
            }
        }
        let isDown = told.status >= 500 && call.request.target.segments == ["_up"]
        var response =
            isDown ? ServerEndpoints.down(told) : HTTPResponse.error(challenged(told, call.request))
        if told.status >= 500 { response.cause = error }
        return response
    }

    /// Counts a request that was refused for now. There may be thousands, so the log gets one line per ten seconds.
    ///
    /// - Returns: The number of requests to log; 0 to log no line.
    private func refused() -> Int {
        let now = ContinuousClock.now
        return refusals.withLock { refusals in
            refusals.count += 1
            guard now >= refusals.next else { return 0 }
            defer { refusals = (0, now + .seconds(10)) }
            return refusals.count
        }
    }

    /// Adds the headers that all responses have.
    func finished(_ response: HTTPResponse, _ call: RoutedRequest) -> HTTPResponse {
        var response = response
        response.user = call.user?.name
        live.withLock(\.otherOrigins)?.apply(to: &response, call.request)
        secure(&response)
        ResponseCompression.apply(to: &response, call.request)
        response.headers["Server"] = product
        response.headers["X-Couch-Request-ID"] = call.id
        response.headers["X-CouchDB-Body-Time"] = "0"
        metrics.answered(call.method, status: response.status, since: call.start)
        return response
    }

    /// Makes browsers respect the content type of a response, and run no attached script with the rights of the
    /// user who opens it.
    private func secure(_ response: inout HTTPResponse) {
        response.headers["X-Content-Type-Options"] = "nosniff"
        guard response.headers["Content-Security-Policy"] == nil, let type = response.headers["Content-Type"],
            type != "application/json",
            response.headers.bare("Content-Type") != "application/json"
        else { return }
        response.headers["Content-Security-Policy"] = "sandbox"
    }

    /// The response to a browser that asks whether it may send a request from another origin.
    func preflight(_ request: ServerRequest) -> HTTPResponse? {
        request.method == "OPTIONS" ? live.withLock(\.otherOrigins)?.preflight(request) : nil
    }

    /// Adds the challenge that makes a browser ask for a password, where one is wanted.
    private func challenged(_ error: HTTPError, _ request: ServerRequest) -> HTTPError {
        guard error.status == 401 else { return error }
        let security = options.security
        let isStrict = security.anonymousAccess != .everywhere
        guard
            let challenge = request.headers["X-CouchDB-WWW-Authenticate"] ?? security.challenge
                ?? (isStrict ? "Basic realm=\"server\"" : nil)
        else { return error }
        var error = error
        error.headers["WWW-Authenticate"] = challenge
        return error
    }
}
