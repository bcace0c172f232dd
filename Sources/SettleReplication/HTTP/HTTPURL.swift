internal import SettlePlatform

/// The address of a database, a server or anything else that is reached over HTTP.
///
///     let url = try HTTPURL("https://anna:secret@couch.example:6984/groceries/")
///     print(url)                                  // https://couch.example:6984/groceries
///     url.user                                    // "anna"
///     url.databaseName                            // "groceries"
///     url.appending(HTTPPath.document("a/b"))     // https://couch.example:6984/groceries/a%2Fb
///
/// Two addresses are equal when they mean the same: scheme and host count in lower case, the scheme's own port may be told
/// or not, and a slash at the end of the path does not matter. User and password are kept apart: nothing that is printed,
/// dumped or sent as the first line of a request has them.
public struct HTTPURL: Hashable, Sendable {
    /// How a server is spoken to.
    public enum Scheme: String, Hashable, Sendable {
        /// In the open, port 80 unless told.
        case http
        /// Over TLS, port 443 unless told.
        case https

        /// The port when none is told.
        var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// How the server is spoken to.
    public let scheme: Scheme
    /// The name or number of the host in lower case, an IPv6 number without brackets.
    public let host: String
    /// The port, whether it was told or not.
    public let port: Int
    /// The path as it is sent, with its escapes: empty for the root, else with a slash in front and none at the end.
    public package(set) var path: String
    /// What is asked behind the path, with its escapes and without the question mark; `nil` for nothing.
    public package(set) var query: String?
    /// The user in front of the host, without escapes; `nil` for none.
    public private(set) var user: String?
    /// The user's password, without escapes; `nil` for none.
    public private(set) var password: String?

    /// Reads an address.
    ///
    /// A fragment is dropped. What is beyond ASCII in the path is escaped.
    ///
    /// - Throws: ``HTTPClientError`` with code `badURL` for what is no address of this kind; its message does not repeat
    ///   the address, for a password may be in it.
    public init(_ text: String) throws(HTTPClientError) { self = try HTTPURLReader.read(text, keepsLastSlash: false) }

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
    public var withoutCredentials: HTTPURL {
        var copy = self
        copy.user = nil
        copy.password = nil
        return copy
    }

    /// The same address without the password.
    public var withoutPassword: HTTPURL {
        var copy = self
        copy.password = nil
        return copy
    }

    /// Whether nothing that is sent leaves this machine: the host is `localhost` or a loopback number.
    public var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
            || (host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || 48...57 ~= $0 })
    }

    /// Whether both lead to the same port of the same host by the same scheme.
    public func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The host and the port, as in `couch.example:6984`; the scheme's own port is left out.
    public var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    /// What makes two addresses share connections.
    var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// The last part of the path without its escapes: the name of the database; `nil` for the root of a server.
    public var databaseName: String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let name = PercentCoding.decode(path[path.index(after: slash)...])
        return name.isEmpty ? nil : name
    }

    /// The address without the last part of its path: of a database, its server.
    public var parent: HTTPURL {
        var copy = self
        copy.path = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        copy.query = nil
        return copy
    }

    /// An address below this one.
    ///
    /// - Parameters:
    ///   - path: What follows, made by ``HTTPPath``.
    ///   - query: What is asked behind it.
    /// - Returns: The address.
    public func appending(_ path: HTTPPath, query: HTTPQuery = HTTPQuery()) -> HTTPURL {
        var copy = self
        if !path.encoded.isEmpty { copy.path += "/" + path.encoded }
        copy.query = query.encoded
        return copy
    }

    /// Where an answer's `Location` leads, read from this address.
    ///
    /// - Throws: ``HTTPClientError`` with code `badURL`.
    func resolving(location: String) throws(HTTPClientError) -> HTTPURL {
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
    public var text: String {
        "\(scheme.rawValue)://\(authority)\(path.isEmpty && query != nil ? "/" : path)" + (query.map { "?\($0)" } ?? "")
    }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address without user, password and query.
    public var description: String { "\(scheme.rawValue)://\(authority)\(path)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts that are no secret.
    public var customMirror: Mirror { Mirror(self, children: ["text": description], displayStyle: .struct) }
}
