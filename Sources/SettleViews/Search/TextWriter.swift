internal import SettleCore
internal import SettleDatabase

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

    /// Replaces a document's texts; unchanged ones are not written.
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
