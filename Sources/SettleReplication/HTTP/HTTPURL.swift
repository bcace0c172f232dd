internal import SettlePlatform

/// The address of a database, a server or another HTTP resource.
///
///     let url = try HTTPURL("https://anna:secret@couch.example:6984/groceries/")
///     print(url)                                  // https://couch.example:6984/groceries
///     url.user                                    // "anna"
///     url.databaseName                            // "groceries"
///     url.appending(HTTPPath.document("a/b"))     // https://couch.example:6984/groceries/a%2Fb
///
/// Addresses that mean the same are equal: scheme and host are compared in lower case, the default port may be omitted,
/// and a trailing slash of the path is ignored. User and password are kept apart: no printed or dumped text and no
/// request line contains them.
public struct HTTPURL: Hashable, Sendable {
    /// The URL schemes.
    public enum Scheme: String, Hashable, Sendable {
        /// Unencrypted, port 80 by default.
        case http
        /// Over TLS, port 443 by default.
        case https

        /// The default port.
        var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// The scheme.
    public let scheme: Scheme
    /// The host name or address in lower case, an IPv6 address without brackets.
    public let host: String
    /// The port, also if it was omitted.
    public let port: Int
    /// The percent-encoded path: empty for the root, else with a leading slash and no trailing one.
    package var path: String
    /// The percent-encoded query without the question mark; `nil` if there is none.
    package var query: String?
    /// The user, decoded; `nil` if there is none.
    public private(set) var user: String?
    /// The password, decoded; `nil` if there is none.
    public private(set) var password: String?

    /// Parses an address.
    ///
    /// A fragment is dropped. Non-ASCII characters in the path are percent-encoded.
    ///
    /// - Throws: ``TransportError`` with code `badURL` for invalid text. Its message does not repeat the address,
    ///   which may contain a password.
    public init(_ text: String) throws(TransportError) { self = try HTTPURLReader.read(text, keepsLastSlash: false) }

    init(
        scheme: Scheme, host: String, port: Int?, path: String, query: String?, user: String?, password: String?
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.path = path
        self.query = query
        self.user = user
        self.password = password
    }

    /// The same address without user and password.
    package var withoutCredentials: HTTPURL {
        var copy = self
        copy.user = nil
        copy.password = nil
        return copy
    }

    /// The same address without the password.
    package var withoutPassword: HTTPURL {
        var copy = self
        copy.password = nil
        return copy
    }

    /// Whether requests stay on this machine: the host is `localhost` or a loopback address.
    package var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
            || (host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || 48...57 ~= $0 })
    }

    /// Whether both have the same scheme, host and port.
    package func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The host and the port, like `couch.example:6984`; the default port is omitted.
    package var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    /// Addresses with the same origin share connections.
    var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// The last segment of the path, decoded: the name of the database; `nil` for the root of a server.
    public var databaseName: String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let name = PercentCoding.decode(path[path.index(after: slash)...])
        return name.isEmpty ? nil : name
    }

    /// The address without the last segment of its path: for a database, its server.
    package var parent: HTTPURL {
        var copy = self
        copy.path = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        copy.query = nil
        return copy
    }

    /// An address below this one.
    ///
    /// - Parameters:
    ///   - path: The path to append, made by ``HTTPPath``.
    ///   - query: The query parameters.
    /// - Returns: The address.
    package func appending(_ path: HTTPPath, query: HTTPQuery = HTTPQuery()) -> HTTPURL {
        var copy = self
        if !path.encoded.isEmpty { copy.path += "/" + path.encoded }
        copy.query = query.encoded
        return copy
    }

    /// The address in a response's `Location`, relative to this one.
    ///
    /// - Throws: ``TransportError`` with code `badURL`.
    func resolving(location: String) throws(TransportError) -> HTTPURL {
        let start = "\(scheme.rawValue)://\(authority)"
        let text =
            if location.contains("://") { location } else if location.hasPrefix("//") {
                "\(scheme.rawValue):\(location)"
            } else if location.hasPrefix("/") { start + location } else if location.hasPrefix("?") {
                start + path + location
            } else { start + (path.lastIndex(of: "/").map { path[...$0] } ?? "/") + location }
        return try HTTPURLReader.read(text, keepsLastSlash: true)
    }

    /// The address as it is requested, without user and password.
    package var text: String {
        "\(scheme.rawValue)://\(authority)\(path.isEmpty && query != nil ? "/" : path)" + (query.map { "?\($0)" } ?? "")
    }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address without user, password and query.
    public var description: String { "\(scheme.rawValue)://\(authority)\(path)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts that are not secret.
    public var customMirror: Mirror { Mirror(self, children: ["text": description], displayStyle: .struct) }
}
