#if canImport(Darwin) || SETTLE_APPLE
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// An HTTP client on `URLSession`, for Apple's systems.
///
/// It uses the system's proxies, VPNs and rules of App Transport Security. Create one client and share it.
///
/// - Important: The system reads up to 16 MB of a response ahead of its reader, although ``HTTPBody`` promises 256
///   KiB. HTTP/2 is used if the server offers it. A value of `Set-Cookie` may contain several headers, joined by
///   commas.
public final class URLSessionTransport: HTTPTransport {
    /// The options of all requests.
    public let options: TransportOptions
    private let session: URLSession
    private let compression: HTTPCompression
    #if canImport(FoundationNetworking)
    private let feed = URLSessionFeed()
    #endif

    /// Creates a client.
    public init(_ options: TransportOptions = TransportOptions()) {
        self.options = options
        compression = HTTPCompression(options)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = options.connections
        #if canImport(FoundationNetworking)
        session = URLSession(configuration: configuration, delegate: feed, delegateQueue: nil)
        #else
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        if let proxies = options.proxy.configurations { configuration.proxyConfigurations = proxies }
        if options.proxy.isDirect { configuration.connectionProxyDictionary = [:] }
        session = URLSession(configuration: configuration)
        #endif
    }

    // Responses that are still being read continue to their end.
    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and returns when the head of its response has arrived.
    ///
    /// - Parameter request: The request. Its `connectTimeout` is part of its `idleTimeout` here.
    /// - Returns: The response.
    /// - Throws: ``TransportError``.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try HTTPRequestCheck.check(request)
        try options.checkAddresses()
        return try await compression.send(request) { try await HTTPRedirect.follow($0, options, send: exchange) }
    }

    private func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        let end = URLSessionEnd(request)
        let (response, next) = try await end.guarded {
            try await open(URLSessionRequest.make(request, options), request, end)
        }
        guard let http = response as? HTTPURLResponse else {
            throw TransportError(.badAnswer, "what \(request.url.authority) answers is no HTTP")
        }
        var headers = HTTPHeaders()
        for (name, value) in http.allHeaderFields { headers.add("\(name)", "\(value)") }
        let body = HTTPBody {
            try await end.guarded(next)
        } onDrop: {
            end.finish()
        }
        return HTTPResponse(status: http.statusCode, headers: headers, body: body)
    }

    #if canImport(FoundationNetworking)
    private func open(
        _ made: URLRequest, _ request: HTTPRequest, _ end: URLSessionEnd
    ) async throws -> (URLResponse, HTTPBody.Producer) {
        var made = made
        if !request.body.isNone { made.httpBody = try await URLSessionRequest.collected(request.body) }
        let task = session.dataTask(with: made)
        end.onEnd { task.cancel() }
        return try await feed.start(task)
    }
    #else
    private func open(
        _ made: URLRequest, _ request: HTTPRequest, _ end: URLSessionEnd
    ) async throws -> (URLResponse, HTTPBody.Producer) {
        var made = made
        let delegate = URLSessionRules(options.tls, request, end)
        if case .bytes(let bytes) = request.body.content, !bytes.isEmpty { made.httpBody = Data(bytes) }
        if case .pieces = request.body.content { made.httpBodyStream = delegate.openBody() }
        let starting = Task { [made, session] in try await session.bytes(for: made, delegate: delegate) }
        end.onEnd { starting.cancel() }
        let (bytes, response) = try await starting.value
        end.onEnd { bytes.task.cancel() }
        let pieces = URLSessionPieces(bytes)
        return (response, { try await pieces.next() })
    }
    #endif
}

extension TransportOptions {
    /// Checks that the options require nothing that the system's connections can't do.
    ///
    /// - Throws: ``TransportError`` with code `badRequest` if private addresses are refused.
    package func checkAddresses() throws(TransportError) {
        guard !refusesPrivateAddresses else {
            throw TransportError(.badRequest, "URLSession can't tell private addresses from others")
        }
    }
}
#endif
