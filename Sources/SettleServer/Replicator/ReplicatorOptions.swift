public import SettleCore
internal import SettleDatabase
internal import SettlePlatform
public import SettleReplication

/// What a server's replicator may do, and how much of it.
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

    /// How many replications run at the same time; 500 unless set. Others wait, and those that run for ever make room for
    /// them by turns.
    public var jobs = 500
    /// The hosts that may be reached, such as `couch.example`, `*.example` for all below a domain, `10.0.0.7:5984` for one
    /// port alone; any unless set.
    public var allowedHosts: Set<String> = []
    /// Whose replications may reach addresses of this machine and of private networks; the administrators' unless set.
    ///
    /// Somebody who may write documents of `_replicator` could else have the server ask what only the server can reach.
    public var privateAddresses = PrivateAddresses.administrators
    /// After what time replications that run for ever make room for others that wait; 60 seconds unless set.
    public var turn: Duration = .seconds(60)
    /// After what time a replication that failed is tried again, twice as long with each failure in a row; 5 seconds unless
    /// set.
    public var retryDelay: Duration = .seconds(5)
    /// The longest time between two tries; an hour unless set.
    public var longestRetryDelay: Duration = .seconds(3600)
    /// Whom to trust over TLS; the system's roots unless set.
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
