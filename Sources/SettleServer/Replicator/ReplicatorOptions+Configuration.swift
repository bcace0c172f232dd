internal import SettleReplication

extension ReplicatorOptions {
    /// Reads options from a configuration; docs/OPERATION.md has its members.
    init(_ reader: ConfigurationReader) throws {
        self.init()
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
}
