import RevisionTree
package import SettleDatabase

/// The rows of some views over the documents of a database, kept in a file of their own and brought up to date when asked.
package final class ViewIndex: FiledIndex {
    private let definitions: [ViewDefinition]
    private let follower: IndexFollower<IndexWriter>
    private let readers: ReaderPool<IndexReader>
    package let use: IndexUse

    /// Makes an index; the file is opened, or made, when it is first needed.
    ///
    /// - Parameters:
    ///   - place: Where the file is.
    ///   - definitions: The views, as the mapper numbers them.
    ///   - includesDesign: Whether design documents are mapped too.
    package init(at place: IndexPlace, definitions: [ViewDefinition], includesDesign: Bool = false) {
        let path = place.path
        use = IndexUse(among: place.openIndexes)
        readers = ReaderPool { try IndexReader(path) }
        self.definitions = definitions
        follower = IndexFollower(path: path, includesDesign: includesDesign, flavour: Collation.version) { path in
            try IndexWriter(try IndexFile.open(path, .views), definitions: definitions)
        }
    }

    /// The reduce functions of a view.
    package func reducers(of view: Int) -> [any ViewReducer] {
        definitions.indices.contains(view) ? definitions[view].reducers : []
    }

    /// Brings the index to where the database is now. Who calls while another does so waits, and goes on from there.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - mapper: What makes rows of its documents.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the work, and what is done stays.
    /// - Throws: ``DatabaseError``, or what the mapper, a reducer, or `report` throws.
    package func update(
        from database: Database, by mapper: any ViewMapper,
        report: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
    ) throws {
        // Most often there is nothing to do.
        if follower.isCurrent(with: database) { return }
        try using { try follower.update(from: database, by: mapper, renew: readers.clear, report: report) }
    }

    /// Whether nothing was committed since the index was brought up to date.
    package func isCurrent(with database: Database) -> Bool { follower.isCurrent(with: database) }

    /// Runs a closure that reads one state of the index, and that index's last change of the database.
    package func read<Result>(_ body: (IndexReading) throws -> Result) throws -> Result {
        do {
            return try using {
                try readers.withReader { reader in
                    try reader.snapshot { reader in
                        try body(IndexReading(reader: reader, definitions: definitions, sequence: reader.sequence()))
                    }
                }
            }
        } catch {
            follower.note(error)
            throw error
        }
    }

    /// How far the index is, if it was ever built.
    package func sequence() throws -> UpdateSequence { try read { $0.sequence } }

    package func closeFiles() {
        readers.clear()
        follower.close()
    }
}
