public import SettleCore
internal import SettleDatabase
public import SettleHTTP
internal import SettlePlatform
internal import SettleReplication

/// The options and limits of a server's replicator.
public struct ReplicatorOptions: Sendable {
    /// The users whose replications may reach addresses of this machine and of private networks.
    public enum PrivateAddresses: String, Sendable, Hashable {
        /// The server's administrators.
        case administrators
        /// All users.
        case everybody
        /// No user.
        case nobody
    }

    /// The maximum number of running replications; 500 by default. Further ones wait, and continuous ones take
    /// turns.
    public var jobs = 500
    /// The hosts that replications may reach: `couch.example`, `*.example` for all hosts of a domain,
    /// `10.0.0.7:5984` for one port only. If the set is empty, the default, they may reach any host.
    public var allowedHosts: Set<String> = []
    /// The users whose replications may reach addresses of this machine and of private networks; the administrators
    /// by default.
    ///
    /// Otherwise anyone who can write `_replicator` documents could make the server call hosts that only it can reach (SSRF).
    public var privateAddresses = PrivateAddresses.administrators
    /// The time after which a continuous replication makes room for a waiting one; 60 seconds by default.
    public var turn: Duration = .seconds(60)
    /// The time after which a failed replication is tried again; 5 seconds by default. It doubles with each
    /// consecutive failure. A run that reached both sides for two minutes resets the count.
    public var retryDelay: Duration = .seconds(5)
    /// The maximum time between two tries; an hour by default.
    public var longestRetryDelay: Duration = .seconds(3600)
    /// The certificates that TLS connections trust; the system's roots by default.
    public var tls = TLSOptions()

    /// Makes options with the defaults.
    public init() {}
}

extension ReplicatorOptions {
    /// Reads options from a configuration in JSON; docs/OPERATION.md lists its members. Missing members have their
    /// defaults.
    ///
    /// - Parameter configuration: The JSON text.
    /// - Throws: ``DatabaseError`` with code `invalid` for malformed input, an unknown member or an invalid value.
    public init(configuration: [UInt8]) throws {
        self.init()
        let reader = try ConfigurationReader(utf8: configuration)
        jobs = try reader.count("max_jobs") ?? jobs
        allowedHosts = Set((try reader.texts("allowed_hosts") ?? []).map { $0.lowercased() })
        privateAddresses =
            try reader.choice(
                "private_addresses",
                ["administrators": .administrators, "everybody": .everybody, "nobody": .nobody]) ?? privateAddresses
        turn = try reader.seconds("turn") ?? turn
        retryDelay = try reader.seconds("retry_delay") ?? retryDelay
        longestRetryDelay = try reader.seconds("longest_retry_delay") ?? longestRetryDelay
        tls.roots = try reader.text("ca_file")
        try reader.finish()
    }

    /// The options in the form of a configuration.
    public var json: JSONValue {
        [
            "max_jobs": .number(JSONNumber(jobs)), "allowed_hosts": .array(allowedHosts.sorted().map(JSONValue.string)),
            "private_addresses": .string(privateAddresses.rawValue), "turn": .number(JSONNumber(turn.wholeSeconds)),
            "retry_delay": .number(JSONNumber(retryDelay.wholeSeconds)),
            "longest_retry_delay": .number(JSONNumber(longestRetryDelay.wholeSeconds)),
            "ca_file": tls.roots.map(JSONValue.string) ?? .null,
        ]
    }
}

// MARK: - TargetPolicy

/// Decides which addresses a replication may reach, and chooses its client. Otherwise a user could make the server
/// call hosts that the user can't reach.
final class TargetPolicy: Sendable {
    private let options: ReplicatorOptions
    /// The clients, by whether they refuse private addresses. Each has a thread, so they are created on demand.
    private let clients = Guarded<[Bool: DefaultTransport]>([:])

    init(_ options: ReplicatorOptions) { self.options = options }

    /// The client that sends a replication's requests. A host name may resolve to any address, so the client checks
    /// the address too.
    ///
    /// - Throws: An error with the reason if the replication is not allowed.
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
        // A feed occupies its connection, and its job needs more connections at the same time.
        client.connectionsPerHost = max(16, 4 * min(max(options.jobs, 0), 1 << 20))
        client.tls = options.tls
        // An allowed address must not redirect to one that is not allowed.
        client.redirects = 0
        client.refusesPrivateAddresses = refusesPrivate
        return client
    }

    /// The reason why a URL may not be reached; `nil` if it may.
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
