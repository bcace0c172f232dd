public import SettleDatabase
internal import SettlePlatform

extension PostgresStore: DatabaseStore {
    /// The hosts, the port and the database of the cluster.
    public var place: String { configuration.place }

    /// True: any number of nodes use it.
    public var isShared: Bool { true }

    public func contains(_ name: String) throws -> Bool {
        guard DocumentStore.isName(name) else { return false }
        return try !find([name]).isEmpty
    }

    public func nameList() -> any DatabaseNameList { PostgresNames(pool: pool) }

    public func freshen(_ names: [String]) throws {
        let names = names.filter(DocumentStore.isName)
        let begin = ContinuousClock.now
        let results = try pool.ask([
            PostgresCall(.find, .texts(names)), PostgresCall(.serverVersion, .text(PostgresRecord.name)),
        ])
        if results[1].count > 0 { record.note(results[1].integer(0, 0)) }
        let rows = rows(results[0])
        for row in rows { follow(row, readAt: begin) }
        closeOthers(names, rows)
    }

    public func uploadFolder() throws -> String { try uploads.path() }
}

/// The folder of this node for long bodies of requests, made when it is first needed.
final class UploadFolder: Sendable {
    private let made = Guarded<String?>(nil)

    func path() throws -> String {
        try made.withLock { made in
            if let made { return made }
            let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            let folder = "\(base)/settle-uploads-\(getpid())-\(SecureRandom.hexadecimal(bytes: 4))"
            guard mkdir(folder, 0o700) == 0 else {
                throw DatabaseError(
                    .inputOutput, "can't make the folder \(folder): \(String(cString: strerror(errno)))")
            }
            made = folder
            return folder
        }
    }

    deinit { if let folder = made.withLock({ $0 }) { rmdir(folder) } }
}
