internal import SettleDatabase
internal import SettlePlatform
internal import SettleReplication

/// Which addresses replications may reach, and by which client: so that who may start one can't have the server reach
/// for what they could not reach themselves.
final class TargetPolicy: Sendable {
    private let options: ReplicatorOptions
    /// The clients by whether they refuse private addresses; each has a thread, so they are made when they are needed.
    private let clients = Guarded<[Bool: DefaultTransport]>([:])

    init(_ options: ReplicatorOptions) { self.options = options }

    /// The client that sends the requests of a replication. A name may lead to any address, so the client looks at that, too.
    ///
    /// - Throws: Why the replication is not allowed.
    func client(
        for document: ReplicationDocument, isAdmin: Bool
    ) throws(ReplicationDocumentError) -> any HTTPTransport {
        for endpoint in [document.source, document.target] {
            let problem = endpoint.url.map { self.problem(with: $0, isAdmin: isAdmin) } ?? endpoint.problem
            if let problem { throw ReplicationDocumentError(problem) }
        }
        let refuses = !allowsPrivate(isAdmin: isAdmin)
        return clients.withLock { clients in
            if let client = clients[refuses] { return client }
            let client = DefaultTransport(clientOptions(refusesPrivate: refuses))
            clients[refuses] = client
            return client
        }
    }

    private func clientOptions(refusesPrivate: Bool) -> TransportOptions {
        var client = TransportOptions()
        // A feed holds its connection, and its job needs others beside it.
        client.connectionsPerHost = max(16, 4 * options.jobs)
        client.tls = options.tls
        // An address that was allowed must not lead to one that is not.
        client.redirects = 0
        client.refusesPrivateAddresses = refusesPrivate
        return client
    }

    /// Why an address may not be reached, or `nil`.
    func problem(with url: HTTPURL, isAdmin: Bool) -> String? {
        if !options.allowedHosts.isEmpty, !options.allowedHosts.contains(where: { Self.matches($0, url) }) {
            return "\(url.authority) is not among the hosts that this server may replicate with"
        }
        if url.isLoopback, !allowsPrivate(isAdmin: isAdmin) {
            return "\(url.authority) is this machine, which this replication may not reach"
        }
        return nil
    }

    private func allowsPrivate(isAdmin: Bool) -> Bool {
        switch options.privateAddresses {
        case .administrators: isAdmin
        case .everybody: true
        case .nobody: false
        }
    }

    private static func matches(_ pattern: String, _ url: HTTPURL) -> Bool {
        if pattern == url.host || pattern == "\(url.host):\(url.port)" || pattern == url.authority { return true }
        guard pattern.hasPrefix("*.") else { return false }
        return url.host.hasSuffix(pattern.dropFirst())
    }
}
