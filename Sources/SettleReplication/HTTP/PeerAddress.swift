internal import SettlePlatform

/// The address of a database at another server. Its scheme names the protocol.
///
///     https://anna@couch.example/notes      http, https: CouchDB's
///     wss://anna@gateway.example/notes      ws, wss: Couchbase Mobile's, over a WebSocket
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address, with `http` for `ws` and `https` for `wss`: all other rules are the same.
    package let url: HTTPURL
    /// Whether the protocol is Couchbase Mobile's.
    package let isWebSocket: Bool

    /// Parses an address.
    ///
    /// - Throws: ``TransportError`` with code `badURL`. Its message does not repeat the address, which may contain a password.
    package init(_ text: String) throws(TransportError) {
        isWebSocket = ["ws://", "wss://"].contains { text.prefix($0.count).lowercased() == $0 }
        url = try HTTPURLReader.read(
            isWebSocket ? "http" + text.dropFirst(2) : text, keepsLastSlash: false,
            schemes: "http:// or https://, or ws:// or wss://")
    }

    /// An address of CouchDB's protocol.
    package init(_ url: HTTPURL) { self.init(url, isWebSocket: false) }

    private init(_ url: HTTPURL, isWebSocket: Bool) { (self.url, self.isWebSocket) = (url, isWebSocket) }

    /// The address without user and password.
    package var withoutCredentials: PeerAddress { PeerAddress(url.withoutCredentials, isWebSocket: isWebSocket) }

    /// The address without user and password.
    package var description: String { isWebSocket ? "ws" + url.description.dropFirst("http".count) : url.description }

    /// The address with the name of a user, and without a password; without a name if that is `nil`.
    package func text(user: String?) -> String {
        guard let user else { return description }
        let scheme = isWebSocket ? url.scheme == .http ? "ws" : "wss" : url.scheme.rawValue
        return "\(scheme)://\(PercentCoding.encode(user))@\(url.authority)\(url.path)"
    }
}
