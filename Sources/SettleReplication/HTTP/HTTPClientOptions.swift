/// What is the same for all requests of a client.
public struct HTTPClientOptions: Sendable {
    /// How many connections there may be to one host and port at the same time; 10 unless set, at least 1.
    ///
    /// Requests past that wait for one to be free. A feed holds its connection as long as it lasts.
    public var connectionsPerHost = 10
    /// Whom to trust.
    public var tls = TLSOptions()
    /// Through whom requests go; whom the environment names unless set.
    public var proxy = HTTPProxy.environment
    /// How often a server may lead a `GET` or `HEAD` on; 5 unless set.
    ///
    /// To another host, port or scheme none of the request's headers go but `Accept…`, `Range`, `If-…` and `User-Agent`; from
    /// `https` to `http` none is followed.
    public var redirects = 5
    /// The header `User-Agent`.
    public var userAgent = "Settle/\(ProductVersion.current)"
    /// Whether bodies of requests that are bytes are sent compressed by gzip, those of a kibibyte at least; no unless set.
    ///
    /// CouchDB and Settle take them; what stands before a server may not.
    public var compressesRequests = false

    /// Whether connections go to addresses of the public network alone, whatever names lead to: not to this machine, nor into
    /// a private network. Through a proxy it is the proxy's address that counts. No unless set.
    public var refusesPrivateAddresses = false

    /// Makes options with the defaults.
    public init() {}
}
