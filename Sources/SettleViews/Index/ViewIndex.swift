import SettleCore
package import SettleDatabase
internal import SettlePlatform
package import SettleQuery

/// The rows of some views of a database, in a separate file, updated on demand.
package final class ViewIndex: FiledIndex {
    private let definitions: [ViewDefinition]
    private let follower: IndexFollower<IndexWriter>
    private let readers: IndexReaderPool<IndexReader>
    package let use: IndexUse

    /// Creates an index. The file is opened or created at its first use.
    ///
    /// - Parameters:
    ///   - place: The location of the file.
    ///   - definitions: The views, as the mapper numbers them.
    ///   - includesDesign: Whether design documents are mapped too.
    package init(at place: IndexPlace, definitions: [ViewDefinition], includesDesign: Bool = false) {
        let path = place.path
        use = IndexUse(at: place)
        readers = IndexReaderPool { try IndexReader(path) }
        self.definitions = definitions
        follower = IndexFollower(at: place, includesDesign: includesDesign, flavour: Collation.version) { path in
            try IndexWriter(try IndexFile.open(path, .views), definitions: definitions)
        }
    }

    deinit { closeFiles() }

    /// The reduce functions of a view.
    package func reducers(of view: Int) -> [any ViewReducer] {
        definitions.indices.contains(view) ? definitions[view].reducers : []
    }

    /// Updates the index. A concurrent caller waits for the current update, and continues from its result.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - mapper: Maps documents to rows.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the update, and
    ///     completed batches are kept.
    /// - Throws: ``DatabaseError``, or errors of the mapper, a reducer, or `report`.
    package func update(
        from database: Database, by mapper: any ViewMapper,
        report: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
    ) throws {
        // Usually there is nothing to do.
        if follower.isCurrent(with: database) { return }
        try using { try follower.update(from: database, by: mapper, renew: readers.clear, report: report) }
    }

    /// Whether nothing was committed since the index was updated.
    package func isCurrent(with source: any DocumentSource) -> Bool { follower.isCurrent(with: source) }

    /// Runs a closure on one snapshot of the index, which knows the index's last processed change.
    package func read<Result>(_ body: (IndexReading) throws -> Result) throws -> Result {
        try using { try readers.withReader { try snapshot($0, body) } }
    }

    /// Does the same if that needs no waiting.
    ///
    /// - Throws: Errors of the closure, ``DatabaseError``, or ``NotAtHand`` if the file is not open or all readers
    ///   are in use.
    package func readAtHand<Result>(_ body: (IndexReading) throws -> Result) throws -> Result {
        try usingOpened { try readers.withFreeReader { try snapshot($0, body) } }
    }

    private func snapshot<Result>(_ reader: IndexReader, _ body: (IndexReading) throws -> Result) throws -> Result {
        do {
            return try reader.snapshot { reader in
                try body(IndexReading(reader: reader, definitions: definitions, sequence: reader.sequence()))
            }
        } catch {
            follower.record(error)
            throw error
        }
    }

    /// The last processed change of the index, if it was ever built.
    package func sequence() throws -> UpdateSequence { try read { $0.sequence } }

    package func closeFiles() {
        readers.clear()
        follower.close()
    }
}

/// The file of an index.
enum IndexFile {
    /// Removes a file, together with the files that SQLite keeps beside it.
    ///
    /// The log is removed before the file, so that a connection opened in between can't apply the old log to a new file.
    static func remove(_ path: String) {
        for suffix in ["-wal", "-shm", "-journal", ""] { unlink(path + suffix) }
    }

    /// Opens a file, and creates the tables if they are missing.
    static func open(_ path: String, _ tables: IndexTables) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path)
        try connection.execute("PRAGMA page_size = 8192")
        try connection.useLog()
        try connection.execute(
            """
            PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384; PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY;
            PRAGMA journal_size_limit = 33554432;
            """)
        if try connection.integer("PRAGMA user_version") == tables.version { return connection }
        try connection.transact {
            // Another connection may have created them meanwhile.
            guard try connection.integer("PRAGMA user_version") != tables.version else { return }
            let drops = tables.names.map { "DROP TABLE IF EXISTS \($0);" }.joined(separator: " ")
            try connection.execute("\(drops) \(tables.sql) PRAGMA user_version = \(tables.version);")
        }
        return connection
    }
}

// MARK: - ViewDefinition

/// The definition of one view: the reduce functions over its rows, and the order of its keys.
package struct ViewDefinition: Sendable {
    /// The reduce functions, in order.
    package let reducers: [any ViewReducer]

    /// The order of its keys.
    package let order: KeyOrder

    /// Creates a definition.
    package init(reducers: [any ViewReducer], order: KeyOrder = .collation) {
        self.reducers = reducers
        self.order = order
    }
}
