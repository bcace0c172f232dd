internal import SettleCore
package import SettleDatabase

/// The words in the documents of a database, in a separate file that is updated like those of views.
package final class TextRows: FiledIndex {
    private let follower: IndexFollower<TextWriter>
    private let readers: IndexReaderPool<TextReader>
    private let mapper: TextMapper
    package let use: IndexUse

    init(at place: IndexPlace, _ index: TextIndex) {
        let path = place.path
        use = IndexUse(at: place)
        let weights = index.weights
        let tables = IndexTables.texts(columns: weights.count, tokenizer: index.tokenizer.specification)
        readers = IndexReaderPool { try TextReader(path, tables, weights: weights) }
        mapper = TextMapper(index)
        follower = IndexFollower(path: path, includesDesign: false, flavour: "fts5") { path in
            try TextWriter(try IndexFile.open(path, tables), columns: weights.count)
        }
    }

    /// Updates the index.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the update, and
    ///     completed batches are kept.
    /// - Throws: ``DatabaseError``, or what `report` throws.
    package func update(
        from database: Database, report: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
    ) throws {
        if follower.isCurrent(with: database) { return }
        try using { try follower.update(from: database, by: mapper, renew: readers.clear, report: report) }
    }

    /// Whether nothing was committed since the index was updated.
    func isCurrent(with source: any DocumentSource) -> Bool { follower.isCurrent(with: source) }

    /// Runs a closure on one snapshot of the index.
    func read<Result>(_ body: (TextReader) throws -> Result) throws -> Result {
        do {
            return try using { try readers.withReader { try $0.snapshot(body) } }
        } catch {
            follower.note(error)
            throw error
        }
    }

    /// The last processed change of the index, if it was ever built.
    package func sequence() throws -> UpdateSequence { try read { try $0.sequence() } }

    package func closeFiles() {
        readers.clear()
        follower.close()
    }
}

/// Emits the texts of documents: an emission for each column, whose value is the text.
struct TextMapper: ViewMapper {
    private let extraction: TextExtraction
    private let tokenizer: TextTokenizer
    private let filter: MangoSelector?

    init(_ index: TextIndex) {
        extraction = TextExtraction(index)
        tokenizer = index.tokenizer
        filter = index.filter
    }

    func start(_ documents: [DocumentRecord]) -> any ViewMapping { PageMapping(documents, emissions) }

    private func emissions(of record: DocumentRecord) -> [Emission] {
        guard let content = record.content, let winner = record.tree.winner else { return [] }
        if let filter {
            let document = Document(id: record.id, revision: winner.revision, isDeleted: false, content)
            guard filter.matches(document) else { return [] }
        }
        guard let texts = extraction.texts(of: content.body.json) else { return [] }
        return texts.enumerated().map { Emission(view: $0, key: [], value: Array(tokenizer.prepared($1).utf8)) }
    }
}
