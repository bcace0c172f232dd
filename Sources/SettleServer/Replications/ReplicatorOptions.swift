public import SettleCore
internal import SettleDatabase
public import SettleHTTP
internal import SettlePlatform
internal import SettleReplication

/// The options and limits of a server's replicator.
public struct ReplicatorOptions: Sendable {
    /// Whose replications may reach addresses of this machine and of private networks.
    public enum PrivateAddresses: String, Sendable, Hashable {
        /// Those of the server's administrators.
        case administrators
        /// Everybody's.
        case everybody
        /// Nobody's.
        case nobody
    }

    /// How many replications run at the same time; 500 by default. Others wait, and those that run for ever make room for
    /// them by turns.
    public var jobs = 500
    /// The hosts that may be reached, such as `couch.example`, `*.example` for all below a domain, `10.0.0.7:5984` for one
    /// port alone; any by default.
    public var allowedHosts: Set<String> = []
    /// Whose replications may reach addresses of this machine and of private networks; the administrators' by default.
    ///
    /// Otherwise anyone who can write `_replicator` documents could make the server call hosts that only it can reach (SSRF).
    public var privateAddresses = PrivateAddresses.administrators
    /// After what time replications that run for ever make room for others that wait; 60 seconds by default.
    public var turn: Duration = .seconds(60)
    /// After what time a replication that failed is tried again, twice as long with each failure in a row; 5 seconds unless
    /// set.
    public var retryDelay: Duration = .seconds(5)
    /// The longest time between two tries; an hour by default.
    public var longestRetryDelay: Duration = .seconds(3600)
    /// Whom to trust over TLS; the system's roots by default.
    public var tls = TLSOptions()

    /// Makes options with the defaults.
    public init() {}
}

extension ReplicatorOptions {
    /// Reads options from a configuration in JSON; docs/OPERATION.md has its members. What it lacks has the defaults.
    ///
    /// - Parameter configuration: The JSON text.
    /// - Throws: ``DatabaseError`` with code `invalid` for invalid input, has a member that is not known, or a value that
    ///   can't be.
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

    /// The options as a configuration has them.
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

/// Which addresses replications may reach, and by which client, so that a user who starts one can't
/// make the server call hosts that the user could not reach.
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

    /// The reason why an address may not be reached, or `nil`.
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
