public import Foundation
internal import SettleHTTP
internal import SettlePlatform
internal import SettleReplication

/// The address and the limits of a listener.
struct ListenerOptions: Sendable {
    /// The address to listen on: a host's name, or an IPv4 or IPv6 address.
    var host = "127.0.0.1"
    /// The port, 0 for any that is free.
    var port = 5984
    /// A listening socket to use in place of an address and a port. The listener closes it at its end.
    var inherited: Int32?
    /// The maximum number of open connections.
    var connectionLimit = 10_000
    /// The time without progress after which a connection is closed, in seconds. Waiting streams are exempt.
    var idleTimeout = 60
    /// The maximum size of a request's first line and header together, in bytes, including some room that the
    /// library itself uses.
    var headerLimit = 40 * 1024
    /// Returns the maximum size of any request's body; called once for each request.
    var bodyLimit: @Sendable () -> Int64 = { 4 << 30 }
    /// Returns whether a plus in a path means a blank; called once for each request.
    var plusIsBlank: @Sendable () -> Bool = { true }
    /// The maximum number of handlers that run at the same time.
    var workers = 32
    /// The maximum number of requests for feeds, and of woken streams, that run at the same time.
    var feedThreads = 4
    /// The maximum number of threads that write parts of long bodies to files.
    var uploads = 8
    /// The folder that holds long bodies until they are complete.
    var uploadFolder = "/tmp"
    /// The proxies that are trusted to say where a request comes from.
    var trustedProxies = TrustedProxies()
    /// The TLS certificate; `nil` for a server without TLS.
    var certificate: Certificate?
    /// Called with each finished request that is notable, on a thread that must not wait.
    var observer: (@Sendable (RequestRecord) -> Void)?
    /// Whether the observer is called with the other requests too.
    var observesAll = false
    /// Called with a problem that an operator should know, such as an answer that can't be sent as it is.
    var warn: (@Sendable (String) -> Void)?

    /// Raises the number of handlers, for a server whose threads wait for a database server most of the time.
    mutating func waitForNetwork() { (workers, feedThreads) = (64, 16) }
}

/// The certificate by which a TLS server identifies itself.
public struct Certificate: Sendable, Equatable {
    /// The certificate and the intermediate certificates that sign it, in PEM.
    public var chain: String
    /// The private key in PEM.
    public var key: String

    /// Creates a certificate from PEM texts.
    public init(chain: String, key: String) {
        self.chain = chain
        self.key = key
    }

    /// When the server's own certificate expires; `nil` if that can't be read.
    public var end: Date? {
        PEMCertificates.end(of: chain).map { Date(timeIntervalSince1970: $0) }
    }

    /// The problem with the certificate or its key, as the message of a listener that could not start.
    var problem: String {
        if !chain.contains("-----BEGIN CERTIFICATE-----") { return "the file of the certificate has none in PEM" }
        if !key.contains("PRIVATE KEY-----") { return "the file of the certificate's key has no private key in PEM" }
        if key.contains("ENCRYPTED") {
            return "the certificate's private key is encrypted; store it decrypted, as `openssl pkey` writes it"
        }
        return "the certificate does not fit its key, or one of them is damaged"
    }
}

/// The proxies whose headers are trusted for the client's address, and for the route of the request to the server.
///
///     client 198.51.100.7 ─→ proxy 10.0.0.2 ─→ proxy 10.0.0.3 ─→ server
///     X-Forwarded-For: <what the client wrote>, 198.51.100.7, 10.0.0.2
///                                               └ the right-most address that is no trusted proxy's
///
/// Addresses to the left of the last trusted one may be forged.
struct TrustedProxies: Sendable {
    private let ranges: [NetworkRange]
    static let header = "X-Forwarded-For"

    init(_ ranges: [NetworkRange] = []) { self.ranges = ranges }

    /// Whether no proxy is trusted, so that the header is ignored.
    var isEmpty: Bool { ranges.isEmpty }

    /// The address of a request's client.
    ///
    /// - Parameters:
    ///   - peer: The other end of the connection.
    ///   - headers: The header of the request.
    /// - Returns: If the peer is trusted, the right-most address of the header that is not trusted; otherwise the
    ///   peer. An item that is not an address ends the search; the result is then the last proxy found.
    func client(of peer: String, _ headers: HTTPHeaders) -> String {
        guard !ranges.isEmpty, let address = NetworkAddress(peer), isTrusted(address) else { return peer }
        var last = peer
        let items = headers.fields.filter { $0.name.lowercased() == Self.header.lowercased() }
            .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }
        for item in items.reversed() {
            guard let address = NetworkAddress(forwarded: String(item).trimmingBlanks()) else { return last }
            last = address.text
            if !isTrusted(address) { return last }
        }
        return last
    }

    /// Whether the other end of a connection is a trusted proxy.
    func areTrusted(_ peer: String) -> Bool { !ranges.isEmpty && NetworkAddress(peer).map(isTrusted) == true }

    private func isTrusted(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }
}
