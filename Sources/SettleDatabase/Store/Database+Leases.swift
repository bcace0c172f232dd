/// Jobs of a database that several nodes share.
extension Database {
    /// The leases of the database's jobs; `nil` where one process has the database, so that its jobs need none.
    package var leases: (any JobLeases)? { engine.leases }

    /// Runs a closure whose writes are committed together, and only while a lease is this node's; `nil` needs none.
    ///
    /// - Throws: ``DatabaseError`` with code `conflict` if the lease is another node's or has run out, and what
    ///   ``transaction(_:)`` throws.
    @discardableResult
    package func transaction<Result>(under lease: JobLease?, _ body: () throws -> Result) throws -> Result {
        let isPart = engine.isWriting
        return try log.measure(.write, logMetadata) {
            try engine.hold { writer in
                if let lease { try writer.require(lease) }
                return try isPart ? writer.part(body) : body()
            }
        }
    }
}
