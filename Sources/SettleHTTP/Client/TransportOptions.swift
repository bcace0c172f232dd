/// Options for all requests of a client.
public struct TransportOptions: Sendable {
    /// The maximum number of concurrent connections to one host and port, at least 1; 10 by default.
    ///
    /// Further requests wait for a free connection. A feed occupies its connection as long as it lasts.
    public var connectionsPerHost = 10
    /// The certificates to trust and to present.
    public var tls = TLSOptions()
    /// The proxy; by default the one in the environment.
    public var proxy = HTTPProxy.environment
    /// The maximum number of redirects of a `GET` or `HEAD`; 5 by default.
    ///
    /// A redirect to another host, port or scheme keeps only the headers `Accept…`, `Range`, `If-…` and `User-Agent`,
    /// and the response from there has no `Set-Cookie`. Redirects from `https` to `http` are not followed.
    public var redirects = 5
    /// The header `User-Agent`.
    public var userAgent = "Settle/\(ProductVersion.current)"
    /// Whether to compress the body of a `POST` with gzip if it is JSON, given as bytes, of at least a kibibyte; `true`
    /// by default.
    ///
    /// CouchDB and Settle accept compressed JSON. If a server or proxy answers 400 or 415, the request is sent again
    /// uncompressed; if that helps, the client compresses nothing more for that host and port. A `PUT` is sent as it
    /// is, because it may be an attachment, which CouchDB would store compressed.
    public var compressesRequests = true
    /// The time to the first byte of a response from which on a server counts as far away; 2 milliseconds by default.
    ///
    /// For a minute after a response of a server has begun sooner, neither requests to it nor responses are compressed:
    /// on this machine or in its network that would take longer than sending the bytes as they are. With `.zero`, no
    /// server is near.
    public var compressesBeyond = Duration.milliseconds(2)

    /// Whether to connect only to public addresses, whatever a host name resolves to, and not to this machine or a
    /// private network; `false` by default. With a proxy, the proxy's address is checked.
    public var refusesPrivateAddresses = false

    /// Creates options with the defaults.
    public init() {}

    /// The maximum number of connections to one host and port, limited to a range in which arithmetic can't overflow.
    var connections: Int { min(max(connectionsPerHost, 1), 1 << 20) }
}

// MARK: - HTTPProxy

/// The proxy for a client's requests.
public struct HTTPProxy: Sendable {
    enum Kind: Sendable {
        case environment
        case none
        case url(String, user: String?, password: String?, except: [String])
    }

    let kind: Kind

    /// The proxy in the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, read as curl does.
    public static let environment = HTTPProxy(kind: .environment)
    /// No proxy.
    public static let direct = HTTPProxy(kind: .none)

    /// A proxy for all requests.
    ///
    /// - Parameters:
    ///   - url: The address: `http://`, `https://`, `socks5://`, or `socks5h://` for a proxy that resolves host
    ///     names. A user and a password may precede the host.
    ///   - except: The hosts and domains that are reached directly, as in `no_proxy`; `*` for all.
    /// - Returns: The proxy.
    /// - Throws: ``TransportError`` with code `badURL`.
    public static func through(_ url: String, except: [String] = []) throws(TransportError) -> HTTPProxy {
        guard let mark = url.firstRange(of: "://"),
            let standardPort = standardPorts[url[..<mark.lowerBound].lowercased()]
        else {
            throw TransportError(
                .badURL, "the address of a proxy has to begin with http://, https://, socks5:// or socks5h://")
        }
        // The rest of the address is parsed by the usual rules.
        let place = try HTTPURLReader.read("http://" + url[mark.upperBound...], keepsLastSlash: false)
        let isTold = url.hasSuffix(":80") || url.contains(":80/")
        let port = place.port == 80 && !isTold ? standardPort : place.port
        let host = place.host.contains(":") ? "[\(place.host)]" : place.host
        let plain = "\(url[..<mark.lowerBound].lowercased())://\(host):\(port)"
        return HTTPProxy(kind: .url(plain, user: place.user, password: place.password, except: except))
    }

    private static let standardPorts = ["http": 1080, "https": 443, "socks5": 1080, "socks5h": 1080]
}

extension HTTPProxy: CustomStringConvertible, CustomReflectable {
    /// The proxy's address without user and password.
    public var description: String {
        switch kind {
        case .environment: "the proxy of the environment"
        case .none: "no proxy"
        case .url(let url, _, _, _): url
        }
    }

    /// The proxy's address without user and password.
    public var customMirror: Mirror { Mirror(self, children: ["proxy": description], displayStyle: .struct) }
}

// MARK: - Milliseconds

extension Duration {
    /// Whole milliseconds, at least one and at most twelve days.
    package var milliseconds: Int {
        let (seconds, attoseconds) = Swift.min(Swift.max(self, .milliseconds(1)), .milliseconds(1 << 30)).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
