/// The proxies whose word is taken for where a request comes from.
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

    private func isTrusted(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }
}
