internal import SettlePlatform

/// The address of a database, a server or another HTTP resource.
///
///     let url = try HTTPURL("https://anna:secret@couch.example:6984/groceries/")
///     print(url)                                  // https://couch.example:6984/groceries
///     url.user                                    // "anna"
///     url.databaseName                            // "groceries"
///     url.appending(HTTPPath.document("a/b"))     // https://couch.example:6984/groceries/a%2Fb
///
/// Addresses with the same meaning are equal: scheme and host are compared in lower case, the default port may be
/// omitted, and a trailing slash of the path is ignored. User and password are stored separately: no printed or
/// dumped text and no request line contains them.
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
    /// The port, even if it was omitted.
    public let port: Int
    /// The percent-encoded path: empty for the root, otherwise with a leading slash and without a trailing one.
    package var path: String
    /// The percent-encoded query without the question mark; `nil` in a URL without a query.
    package var query: String?
    /// The decoded user; `nil` in a URL without a user.
    public private(set) var user: String?
    /// The decoded password; `nil` in a URL without a password.
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

    /// Whether two addresses have the same scheme, host and port.
    package func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The host and the port, like `couch.example:6984`; the default port is omitted.
    package var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    /// The origin. Addresses with the same origin share connections.
    package var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// The last segment of the path, decoded: the name of the database; `nil` for the root of a server.
    public var databaseName: String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let name = PercentCoding.decode(path[path.index(after: slash)...])
        return name.isEmpty ? nil : name
    }

    /// The address without the last segment of its path; for a database, the address of its server.
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

    /// The address in a response's `Location`, relative to this one (RFC 3986, section 5.2).
    ///
    /// - Throws: ``TransportError`` with code `badURL`.
    func resolving(location: String) throws(TransportError) -> HTTPURL {
        let start = "\(scheme.rawValue)://\(authority)"
        // A scheme comes before the path. The query of a relative address may contain another address.
        let first = location.prefix { !"/?#".contains($0) }
        let isAbsolute = first.hasSuffix(":") && location[first.endIndex...].hasPrefix("//")
        let text =
            if isAbsolute { location } else if location.hasPrefix("//") {
                "\(scheme.rawValue):\(location)"
            } else if location.hasPrefix("/") { start + location } else if location.hasPrefix("?") {
                start + path + location
            } else { start + (path.lastIndex(of: "/").map { path[...$0] } ?? "/") + location }
        var url = try HTTPURLReader.read(text, keepsLastSlash: true)
        url.path = Self.withoutDots(url.path)
        return url
    }

    /// A path without the segments `.` and `..`, which mean their folder and the one above it. Escaped ones are names,
    /// and stay.
    private static func withoutDots(_ path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        var kept: [Substring] = []
        for segment in segments {
            if segment == ".." { _ = kept.popLast() } else if segment != "." { kept.append(segment) }
        }
        if segments.last == "." || segments.last == ".." { kept.append("") }
        return kept == [""] ? "" : kept.map { "/\($0)" }.joined()
    }

    /// The address in the form that is requested, without user and password.
    package var text: String { origin + (path.isEmpty && query == nil ? "" : target) }

    /// The path and the query, as in the first line of a request.
    package var target: String { (path.isEmpty ? "/" : path) + (query.map { "?\($0)" } ?? "") }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address without user, password and query.
    public var description: String { "\(scheme.rawValue)://\(authority)\(path)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts that are not secret.
    public var customMirror: Mirror { Mirror(self, children: ["text": description], displayStyle: .struct) }
}

// MARK: - HTTPURLReader

/// Parses addresses strictly: rejects text that a server, a proxy and curl could interpret differently.
package enum HTTPURLReader {
    /// - Parameters:
    ///   - text: The address.
    ///   - keepsLastSlash: Whether to keep a trailing slash of the path, as in a redirect.
    ///   - schemes: The schemes that the caller allows, for the message.
    /// - Returns: The address.
    /// - Throws: ``TransportError`` with code `badURL`.
    package static func read(
        _ text: String, keepsLastSlash: Bool, schemes: String = "http:// or https://"
    ) throws(TransportError) -> HTTPURL {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw bad("blanks and control characters have to be escaped, a blank as %20")
        }
        guard let mark = text.firstRange(of: "://") else {
            throw bad("it has to begin with \(schemes)")
        }
        guard let scheme = HTTPURL.Scheme(rawValue: text[..<mark.lowerBound].lowercased()) else {
            throw bad("it has to begin with \(schemes)")
        }
        let rest = text[mark.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest[authority.endIndex...]
        let (user, password, place) = try credentials(authority)
        let (host, port) = try hostAndPort(place)
        var path = String(target.prefix { $0 != "?" })
        let query = target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        if keepsLastSlash { if path == "/" { path = "" } } else { while path.hasSuffix("/") { path.removeLast() } }
        guard PercentCoding.isValid(path) else { throw bad("a % in the path begins no escape: write it as %25") }
        return HTTPURL(
            scheme: scheme, host: host, port: port, path: PercentCoding.completing(path),
            query: query.map(PercentCoding.completing), user: user, password: password)
    }

    private static func credentials(
        _ authority: Substring
    ) throws(TransportError) -> (user: String?, password: String?, place: Substring) {
        guard let at = authority.lastIndex(of: "@") else { return (nil, nil, authority) }
        let information = authority[..<at]
        guard PercentCoding.isValid(information) else {
            throw bad("a % in the user or the password begins no escape: write it as %25")
        }
        let place = authority[authority.index(after: at)...]
        guard let colon = information.firstIndex(of: ":") else {
            return (PercentCoding.decode(information), nil, place)
        }
        let password = information[information.index(after: colon)...]
        return (PercentCoding.decode(information[..<colon]), PercentCoding.decode(password), place)
    }

    private static func hostAndPort(_ place: Substring) throws(TransportError) -> (host: String, port: Int?) {
        var host = place
        var port: Substring?
        if place.hasPrefix("[") {
            guard let end = place.firstIndex(of: "]") else { throw bad("the [ of an IPv6 number is not closed") }
            host = place[place.index(after: place.startIndex)..<end]
            let behind = place[place.index(after: end)...]
            guard behind.isEmpty || behind.hasPrefix(":") else { throw bad("only a port may follow the host") }
            port = behind.isEmpty ? nil : behind.dropFirst()
            guard host.contains(":"), host.utf8.allSatisfy(isInNumber) else { throw bad("an IPv6 number is wrong") }
        } else {
            if let colon = place.firstIndex(of: ":") {
                (host, port) = (place[..<colon], place[place.index(after: colon)...])
            }
            guard host.utf8.allSatisfy(isInName) else { throw bad("the host has characters that no host has") }
        }
        guard !host.isEmpty else { throw bad("it has no host: write https://host/database") }
        guard let port, !port.isEmpty else { return (host.lowercased(), nil) }
        guard port.utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int(port), 1...65535 ~= number else {
            throw bad("the port has to be a number from 1 to 65535")
        }
        return (host.lowercased(), number)
    }

    private static func isInNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        case UInt8(ascii: ":"), UInt8(ascii: "."): true
        default: false
        }
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func bad(_ reason: String) -> TransportError {
        TransportError(.badURL, "this is not the address of a database: \(reason)")
    }
}
