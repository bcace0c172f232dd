/// What a node wants a lease for, in one database.
struct LeaseName: Hashable, Sendable {
    /// The kinds of what is leased, with the words by which the storage tells them from other jobs of the database.
    enum Kind: String, Sendable {
        /// The right to run a replication.
        case run = "replication"
        /// The right to write into a document that its replication can never run.
        case note = "replication-note"
        /// The sign that a node runs replications, by which the others know it.
        case node = "replication-node"
    }

    /// The name of the database.
    let database: String
    /// The kind.
    let kind: Kind
    /// The id of the replication as a job, of the document, or the name of the node.
    let id: String

    init(_ database: String, _ kind: Kind, _ id: String) { (self.database, self.kind, self.id) = (database, kind, id) }

    /// Reads a name of the storage; `nil` for a job of another kind.
    init?(_ database: String, job: String) {
        guard let mark = job.firstIndex(of: "/"), let kind = Kind(rawValue: String(job[..<mark])) else { return nil }
        self.init(database, kind, String(job[job.index(after: mark)...]))
    }

    /// The name under which the storage has the lease.
    var job: String { "\(kind.rawValue)/\(id)" }

    /// How well a node suits: of several nodes, the one with the highest rank is preferred. All nodes compute the same ranks,
    /// and each node is preferred for about as many names.
    func rank(of node: String) -> UInt64 {
        // FNV-1a; the last step spreads a difference in the last bytes over all bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(node)\u{0}\(job)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 32) &* 0x9E37_79B9_7F4A_7C15
        return hash ^ hash >> 29
    }
}

extension LeaseName: Comparable {
    static func < (left: LeaseName, right: LeaseName) -> Bool {
        (left.database, left.kind.rawValue, left.id) < (right.database, right.kind.rawValue, right.id)
    }
}
