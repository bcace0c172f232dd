public import Foundation
internal import SettleHTTP
internal import SettlePlatform
internal import SettleReplication

/// How a transport listens, and what it allows.
struct ListenerOptions: Sendable {
    /// The address to listen on: a host's name, or an IPv4 or IPv6 address.
    var host = "127.0.0.1"
    /// The port, 0 for any that is free.
    var port = 5984
    /// A socket that listens already, which the listener closes at its end; in place of an address and a port.
    var inherited: Int32?
    /// How many connections there may be at the same time.
    var connectionLimit = 10_000
    /// After how many seconds without any progress a connection is closed; waiting streams do not count.
    var idleTimeout = 60
    /// How many bytes a request's first line and header may have together, with some room for the library's own use.
    var headerLimit = 40 * 1024
    /// How large the body of a request may be at all; asked once for each request.
    var bodyLimit: @Sendable () -> Int64 = { 4 << 30 }
    /// Whether a plus in a path is a blank; asked once for each request.
    var plusIsBlank: @Sendable () -> Bool = { true }
    /// How many handlers may run at the same time.
    var workers = 32
    /// How many requests for feeds, and streams that were woken, may run at the same time.
    var feedThreads = 4
    /// How many threads may put parts of long bodies into files at the same time.
    var uploads = 8
    /// The folder in which long bodies take their space until they are complete.
    var uploadFolder = "/tmp"
    /// The proxies whose word is taken for where requests come from.
    var trustedProxies = TrustedProxies()
    /// What the server shows who it is with, for TLS.
    var certificate: Certificate?
    /// Called with each finished request, on a thread that must not wait.
    var observer: (@Sendable (RequestRecord) -> Void)?
    /// Called with what an operator should look at, such as an answer that can't be sent as it was made.
    var warn: (@Sendable (String) -> Void)?

    /// Runs more handlers at the same time: those whose threads wait for a database server most of the time.
    mutating func waitForNetwork() { (workers, feedThreads) = (64, 16) }
}

/// What a server shows who it is with, over TLS.
public struct Certificate: Sendable, Equatable {
    /// The certificate, and those that vouch for it, in PEM.
    public var chain: String
    /// The private key in PEM.
    public var key: String

    /// Makes a certificate of PEM texts.
    public init(chain: String, key: String) {
        self.chain = chain
        self.key = key
    }

    /// When the certificate itself expires; `nil` if that can't be read.
    public var end: Date? {
        PEMCertificates.end(of: chain).map { Date(timeIntervalSince1970: $0) }
    }

    /// The message of a listener that could not start with it: the problem with the certificate or its key.
    var problem: String {
        if !chain.contains("-----BEGIN CERTIFICATE-----") { return "the file of the certificate has none in PEM" }
        if !key.contains("PRIVATE KEY-----") { return "the file of the certificate's key has no private key in PEM" }
        if key.contains("ENCRYPTED") {
            return "the certificate's private key is encrypted; store it decrypted, as `openssl pkey` writes it"
        }
        return "the certificate does not fit its key, or one of them is damaged"
    }
}

/// The proxies whose headers are trusted for the address of the client, and for how the client has reached the server.
///
///     client 198.51.100.7 ─→ proxy 10.0.0.2 ─→ proxy 10.0.0.3 ─→ server
///     X-Forwarded-For: <what the client wrote>, 198.51.100.7, 10.0.0.2
///                                               └ the right-most address that is no trusted proxy's
///
/// What stands to the left of that may be anybody's invention.
struct TrustedProxies: Sendable {
    private let ranges: [NetworkRange]
    static let header = "X-Forwarded-For"

    init(_ ranges: [NetworkRange] = []) { self.ranges = ranges }

    /// Whether there are none, so that the header means nothing.
    var isEmpty: Bool { ranges.isEmpty }

    /// The address of the client of a request.
    ///
    /// - Parameters:
    ///   - peer: The other end of the connection.
    ///   - headers: The header of the request.
    /// - Returns: The right-most address of the header that is not trusted, where the peer is; else the peer. An item that
    ///   is no address ends the search: then it is the last proxy that was found.
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
