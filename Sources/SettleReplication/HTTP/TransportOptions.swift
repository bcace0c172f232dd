/// Options for all requests of a client.
public struct TransportOptions: Sendable {
    /// How many concurrent connections to one host and port are allowed; 10 unless set, at least 1.
    ///
    /// Further requests wait for a free connection. A feed holds its connection as long as it lasts.
    public var connectionsPerHost = 10
    /// The certificates to trust and to present.
    public var tls = TLSOptions()
    /// The proxy; the one named by the environment unless set.
    public var proxy = HTTPProxy.environment
    /// How many redirects of a `GET` or `HEAD` are followed; 5 unless set.
    ///
    /// A redirect to another host, port or scheme keeps only the headers `Accept…`, `Range`, `If-…` and `User-Agent`.
    /// Redirects from `https` to `http` are not followed.
    public var redirects = 5
    /// The header `User-Agent`.
    public var userAgent = "Settle/\(ProductVersion.current)"
    /// Whether request bodies given as bytes are sent with gzip if they have at least a kibibyte; no unless set.
    ///
    /// CouchDB and Settle accept them; a proxy in front of a server may not.
    public var compressesRequests = false

    /// Whether only connections to public addresses are allowed, whatever a host name resolves to: not to this machine,
    /// nor to a private network. With a proxy, the proxy's address is checked. No unless set.
    public var refusesPrivateAddresses = false

    /// Creates options with the defaults.
    public init() {}
}
