internal import SettleCore
package import SettleDatabase
internal import SettleQuery

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
        follower = IndexFollower(at: place, includesDesign: false, flavour: "fts5") { path in
            try TextWriter(try IndexFile.open(path, tables), columns: weights.count)
        }
    }

    deinit { closeFiles() }

    /// Updates the index.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the update, and
    ///     completed batches are kept.
    /// - Throws: ``DatabaseError``, or errors of `report`.
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
            follower.record(error)
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

// MARK: - TextExtraction

/// Extracts the texts of documents for the columns of an index.
struct TextExtraction: Sendable {
    private let hasDefault: Bool
    private let paths: [[String]]

    init(_ index: TextIndex) {
        hasDefault = index.hasDefaultColumn
        paths = index.fields.map { Self.names(of: $0.path) }
    }

    /// The texts of each column; `nil` if there are no texts.
    func texts(of document: JSONValue) -> [String]? {
        var columns: [String] = []
        if hasDefault {
            var all = ""
            for member in document.object ?? JSONObject() where !member.name.hasPrefix("$") {
                Self.collect(member.value, numbers: false, into: &all)
            }
            columns.append(all)
        }
        for path in paths {
            var texts = ""
            Self.follow(path[...], in: document, into: &texts)
            columns.append(texts)
        }
        return columns.allSatisfy(\.isEmpty) ? nil : columns
    }

    private static func follow(_ path: ArraySlice<String>, in value: JSONValue, into texts: inout String) {
        if let elements = value.array, !path.isEmpty {
            for element in elements { follow(path, in: element, into: &texts) }
            return
        }
        guard let name = path.first else { return collect(value, numbers: true, into: &texts) }
        if let next = value.object?[name] { follow(path.dropFirst(), in: next, into: &texts) }
    }

    private static func collect(_ value: JSONValue, numbers: Bool, into texts: inout String) {
        switch value {
        case .string(let text): append(text, to: &texts)
        case .number(let number): if numbers { append(number.text, to: &texts) }
        case .array(let elements): for element in elements { collect(element, numbers: numbers, into: &texts) }
        case .object(let members): for member in members { collect(member.value, numbers: numbers, into: &texts) }
        default: break
        }
    }

    /// Appends a text as a new line. Control characters are replaced by spaces, because some of them mark matches.
    private static func append(_ text: String, to texts: inout String) {
        guard !text.isEmpty else { return }
        if !texts.isEmpty { texts += "\n" }
        guard text.utf8.contains(where: { $0 < 0x20 }) else {
            texts += text
            return
        }
        texts += String(decoding: text.utf8.map { $0 < 0x20 && $0 != 0x0A ? 0x20 : $0 }, as: UTF8.self)
    }

    /// The names of a path; `[]`, which means all elements of an array in CouchDB's text indexes, is skipped.
    private static func names(of path: String) -> [String] {
        var names = [""]
        var isEscaped = false
        for character in path {
            if character == ".", !isEscaped {
                names.append("")
            } else if character != "\\" || isEscaped {
                names[names.count - 1].append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        return names.filter { $0 != "[]" }
    }
}

// MARK: - TextWriter

/// Writes the texts of documents to a search index.
final class TextWriter: IndexWriting {
    let connection: SQLiteConnection
    private let columns: Int
    private(set) var state: IndexState

    private let number: SQLiteStatement
    private let putDocument: SQLiteStatement
    private let removeDocument: SQLiteStatement
    private let known: SQLiteStatement
    private let putTexts: SQLiteStatement
    private let removeTexts: SQLiteStatement
    private let putState: SQLiteStatement

    init(_ connection: SQLiteConnection, columns: Int) throws {
        self.connection = connection
        self.columns = columns
        state = try IndexState(connection)
        func statement(_ sql: String) throws -> SQLiteStatement { try SQLiteStatement(sql, on: connection) }
        let names = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
        let values = (0..<columns).map { "CAST(?\($0 + 2) AS TEXT)" }.joined(separator: ", ")
        number = try statement("SELECT number FROM documents WHERE id = ?1")
        putDocument = try statement("INSERT INTO documents(id) VALUES(?1)")
        removeDocument = try statement("DELETE FROM documents WHERE number = ?1")
        known = try statement("SELECT \(names) FROM texts WHERE rowid = ?1")
        putTexts = try statement("INSERT INTO texts(rowid, \(names)) VALUES(?1, \(values))")
        removeTexts = try statement("DELETE FROM texts WHERE rowid = ?1")
        putState = try statement("INSERT OR REPLACE INTO state(name, value) VALUES(?1, ?2)")
    }

    func apply(_ changes: [IndexChange], reaching state: IndexState) throws {
        try connection.transact {
            for change in changes { try replace(change) }
            if state != self.state { try state.store(with: putState) }
        }
        self.state = state
    }

    func clear(_ state: IndexState) throws {
        try connection.transact {
            try connection.execute("DELETE FROM documents; DELETE FROM texts")
            try state.store(with: putState)
        }
        self.state = state
    }

    /// Replaces a document's texts. Unchanged ones are not written.
    private func replace(_ change: IndexChange) throws {
        number.bind(1, utf8: change.id.string)
        let old = try number.first { $0.integer(0) }
        var texts = [[UInt8]](repeating: [], count: columns)
        for emission in change.emissions where emission.view < columns { texts[emission.view] = emission.value }
        if let old {
            known.bind(1, old)
            let stored = try known.first { row in (0..<columns).map { row.bytes(Int32($0)) } }
            if !change.emissions.isEmpty, stored == texts { return }
            removeTexts.bind(1, old)
            try removeTexts.run()
        }
        guard !change.emissions.isEmpty else {
            guard let old else { return }
            removeDocument.bind(1, old)
            return try removeDocument.run()
        }
        if old == nil {
            putDocument.bind(1, utf8: change.id.string)
            try putDocument.run()
        }
        putTexts.bind(1, old ?? connection.lastInsertedRow)
        for (column, text) in texts.enumerated() { putTexts.bind(Int32(column + 2), text) }
        try putTexts.run()
    }
}
