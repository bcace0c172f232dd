internal import SettleDatabase

extension PostgresStore {
    /// The name of the row that stores the tables' location at the last start of a node.
    private static let placeName = "place"

    /// Gives new sequence suffixes to all databases, because they were restored from an older state. A client that
    /// continues from a position of the lost state then starts over.
    ///
    /// Nodes keep the suffixes of open databases in memory, so stop the nodes first.
    ///
    /// - Returns: The number of databases that got one. Databases whose sequences were never read need none.
    /// - Throws: ``DatabaseError`` with code `unavailable`.
    public func renewSequences() throws -> Int {
        var count = 0
        try write { connection in
            let renewed = try connection.run([PostgresCall(.begin), PostgresCall(.renewInstances)])[1]
            _ = try connection.run([PostgresCall(.renewAges), PostgresCall(.commit)])
            count = renewed.changed
        }
        return count
    }

    /// Does the same if the tables have moved since the last start of a node: to another cluster, or because they
    /// were restored from a dump.
    ///
    /// If the database server does not report the tables' location, they count as unmoved.
    ///
    /// - Returns: Whether the databases got new suffixes.
    func renewIfRestored() throws -> Bool {
        guard let place = try? pool.ask([PostgresCall(.whereabouts)]).first, place.count == 1 else { return false }
        let bytes = PostgresValue.bytes(place.bytes(0, 0))
        let name = PostgresValue.text(Self.placeName)
        guard let known = try pool.ask([PostgresCall(.serverRecord, name)]).first, known.count > 0 else {
            _ = try pool.runOnce([PostgresCall(.makeServerRecord, name, bytes)])
            return false
        }
        guard known.bytes(0, 0) != place.bytes(0, 0) else { return false }
        var isDone = false
        try write { connection in
            let put = PostgresCall(.putServerRecord, name, bytes, .integer(known.integer(0, 1)))
            // If several nodes start at once, only one of them does this.
            isDone = try connection.run([PostgresCall(.begin), put])[1].count > 0
            let renewal = isDone ? [PostgresCall(.renewInstances), PostgresCall(.renewAges)] : []
            _ = try connection.run(renewal + [PostgresCall(.commit)])
        }
        return isDone
    }
}
