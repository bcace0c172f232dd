internal import SettleHTTP
internal import SettlePlatform

/// A client's route to the server: with or without TLS, and to which address.
///
/// Only a proxy that terminates TLS, or adds a prefix to the path, knows the address that the client used. Its
/// headers count only if the proxy is trusted, because any other client may forge them.
///
///     header                              read from
///     Forwarded: proto=https;host=a.example
///     X-Forwarded-Proto: https            where Forwarded does not have `proto`
///     X-Forwarded-Ssl: on                 where neither is there
///     X-Forwarded-Host: a.example         where Forwarded does not have `host`
///     X-Forwarded-Prefix: /couch          what the proxy removes from the front of the path
///
/// In a list the last item counts, because the trusted proxy itself has added it.
struct ClientRoute: Sendable, Equatable {
    /// Whether the client's connection is encrypted.
    var isSecure = false
    /// The host and port that the client used, as a trusted proxy reports them.
    var host: String?
    /// The prefix that a trusted proxy removes from the path: empty, or with a leading slash and no trailing one.
    var prefix = ""
    /// Whether a header shows that a proxy has forwarded the request.
    var isForwarded = false

    private static let signs = [
        "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Ssl", "X-Real-IP",
    ]

    /// Creates the route of a request that comes from this process, without a connection.
    init() {}

    /// Reads the route from the header of a request.
    ///
    /// - Parameters:
    ///   - headers: The header of the request.
    ///   - isTLS: Whether the connection itself is encrypted.
    ///   - isTrusted: Whether the other end of the connection is a trusted proxy.
    init(_ headers: HTTPHeaders, isTLS: Bool, isTrusted: Bool) {
        isSecure = isTLS
        isForwarded = Self.signs.contains { headers[$0] != nil }
        guard isTrusted else { return }
        let forwarded = Self.last("Forwarded", headers).map(Self.pairs) ?? [:]
        let proto =
            forwarded["proto"] ?? Self.last("X-Forwarded-Proto", headers)
            ?? (headers["X-Forwarded-Ssl"]?.lowercased() == "on" ? "https" : nil)
        switch proto?.lowercased() {
        case "https", "wss": isSecure = true
        case "http", "ws": isSecure = false
        default: break
        }
        host = (forwarded["host"] ?? Self.last("X-Forwarded-Host", headers)).flatMap { Self.isHost($0) ? $0 : nil }
        if let given = Self.last("X-Forwarded-Prefix", headers), given.hasPrefix("/"), Self.isPath(given) {
            prefix = String(given.reversed().drop { $0 == "/" }.reversed())
        }
    }

    /// `http` or `https`, as in the client's URL.
    var scheme: String { isSecure ? "https" : "http" }

    /// The last item of the list in the last field with a name.
    private static func last(_ name: String, _ headers: HTTPHeaders) -> String? {
        let fields = headers.fields.filter { $0.name.lowercased() == name.lowercased() }
        let item = fields.last?.value.split(separator: ",", omittingEmptySubsequences: false).last
        return item.map { String($0).trimmingBlanks() }
    }

    /// The pairs of an element of `Forwarded` (RFC 7239, section 4), with names in lower case.
    private static func pairs(_ element: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in element.split(separator: ";") {
            guard let sign = pair.firstIndex(of: "=") else { continue }
            var value = String(pair[pair.index(after: sign)...]).trimmingBlanks()
            if value.count > 1, value.hasPrefix("\""), value.hasSuffix("\"") {
                value = String(value.dropFirst().dropLast())
            }
            pairs[String(pair[..<sign]).trimmingBlanks().lowercased()] = value
        }
        return pairs
    }

    /// Whether text can be a host with or without a port.
    static func isHost(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "-._~:[]%".utf8.contains(byte)
                }
            }
    }

    private static func isPath(_ text: String) -> Bool {
        !text.hasPrefix("//") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>\\?#".utf8.contains($0) }
    }
}
