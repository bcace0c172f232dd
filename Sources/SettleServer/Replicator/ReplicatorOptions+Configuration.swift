public import SettleCore
internal import SettleDatabase
internal import SettleReplication

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
        turn = try reader.count("turn").map(Double.init) ?? turn
        retryDelay = try reader.count("retry_delay").map(Double.init) ?? retryDelay
        longestRetryDelay = try reader.count("longest_retry_delay").map(Double.init) ?? longestRetryDelay
        tls.roots = try reader.text("ca_file")
        try reader.finish()
    }

    /// The options as a configuration has them.
    public var json: JSON {
        [
            "max_jobs": .number(JSONNumber(jobs)), "allowed_hosts": .array(allowedHosts.sorted().map(JSON.string)),
            "private_addresses": .string(privateAddresses.rawValue), "turn": .number(JSONNumber(Int(turn))),
            "retry_delay": .number(JSONNumber(Int(retryDelay))),
            "longest_retry_delay": .number(JSONNumber(Int(longestRetryDelay))),
            "ca_file": tls.roots.map(JSON.string) ?? .null,
        ]
    }
}
