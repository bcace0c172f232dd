/// One HTTP request.
public struct HTTPClientRequest: Sendable {
    /// The method, as in `GET`; `COPY` and others are sent as they are.
    public var method: String
    /// Where it goes. User and password in it are not sent; see ``Credentials``.
    public var url: HTTPURL
    /// The headers; `Host`, `Content-Length` and `Transfer-Encoding` are the client's business.
    public var headers: HTTPClientHeaders
    /// What is sent.
    public var body: HTTPClientRequestBody
    /// How long the name may take to be found, the connection to be made and TLS to be agreed on, together; 30 seconds
    /// unless set.
    public var connectTimeout: Duration = .seconds(30)
    /// After how long without a byte in either direction the request fails, connecting included; a minute unless set, `nil`
    /// for never.
    ///
    /// Waiting for a free connection does not count, nor for whoever reads the answer, nor for the producer of the body.
    public var idleTimeout: Duration? = .seconds(60)
    /// How long it all may take, to the last byte of the answer; `nil`, the default, for any time.
    public var timeout: Duration?
    /// Whether the server may compress the answer, which is expanded here; no unless set.
    ///
    /// Then `Content-Length` and `Content-Encoding` of the answer speak of the bytes before they were expanded.
    public var acceptsCompression = false

    /// Makes a request.
    public init(
        _ method: String, _ url: HTTPURL, headers: HTTPClientHeaders = HTTPClientHeaders(),
        body: HTTPClientRequestBody = .none
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
