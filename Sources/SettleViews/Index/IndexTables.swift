internal import SettleCore
internal import SettleDatabase

/// The tables of an index file.
///
/// Each kind of index has `state`, which records what it was updated to and made for, and `documents`, which
/// records a document's rows so that they can be removed. All tables change in one transaction.
struct IndexTables: Sendable {
    /// The version of the tables' format; an index with another version is rebuilt.
    let version: Int64
    /// The names of the tables.
    let names: [String]
    /// The statements that create them.
    let sql: String

    /// The tables of views that share their functions.
    ///
    ///     documents   id, positions    which rows a document has
    ///     directory   view, level, first, number, count, reductions      the chunks in order, and ranges of them
    ///     chunks      number, rows
    static let views = IndexTables(
        version: 4, names: ["state", "documents", "directory", "chunks"],
        sql: """
            CREATE TABLE state(name BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE documents(id BLOB PRIMARY KEY, positions BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE directory(
                view INTEGER NOT NULL, level INTEGER NOT NULL, first BLOB NOT NULL, number INTEGER NOT NULL,
                count INTEGER NOT NULL, reductions BLOB NOT NULL, PRIMARY KEY(view, level, first)) WITHOUT ROWID;
            CREATE TABLE chunks(number INTEGER PRIMARY KEY, rows BLOB NOT NULL);
            """)

    /// The tables of a search index.
    ///
    ///     documents   number, id       the row of each document in `texts`
    ///     texts       c0, c1 …         the texts of each column, and the words in them, in SQLite's FTS5
    static func texts(columns: Int, tokenizer: String) -> IndexTables {
        let names = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
        // By scalars, because a quote and a following combining mark are one character.
        let quoted = String(String.UnicodeScalarView(tokenizer.unicodeScalars.flatMap { $0 == "'" ? [$0, $0] : [$0] }))
        return IndexTables(
            version: 101, names: ["state", "documents", "texts"],
            sql: """
                CREATE TABLE state(name BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
                CREATE TABLE documents(number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE);
                CREATE VIRTUAL TABLE texts USING fts5(\(names), tokenize = '\(quoted)');
                """)
    }
}

// MARK: - IndexStatements

/// The prepared statements of a connection to an index. Each is prepared at its first use.
final class IndexStatements {
    private let connection: SQLiteConnection
    private var known: [String: SQLiteStatement] = [:]

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// A statement by its text. Its bindings are those of the last use.
    func prepared(_ sql: String) throws -> SQLiteStatement {
        if let statement = known[sql] { return statement }
        let made = try SQLiteStatement(sql, on: connection)
        known[sql] = made
        return made
    }

    /// A statement whose first two values are the number of a view and a level, followed by positions.
    func prepared(_ sql: String, _ view: Int, _ level: Int, _ places: [UInt8]...) throws -> SQLiteStatement {
        let statement = try prepared(sql)
        statement.bind(1, Int64(view))
        statement.bind(2, Int64(level))
        for (index, place) in places.enumerated() { statement.bind(Int32(3 + index), place) }
        return statement
    }
}

// MARK: - IndexState

/// The state up to which an index was updated, and the database for which it was made.
struct IndexState: Equatable {
    /// The last processed change of the database.
    var sequence: UpdateSequence = 0
    /// The number of processed purges.
    var purges: Int64 = 0
    /// The instance of the database for which it was made.
    var instance = ""
    /// The order of strings with which it was made.
    var collation = ""
    /// The document of the last change, with its winner at that time. If the database no longer has it, the
    /// database has lost its newest writes, but the index has not.
    var witness = ""

    init() {}

    /// Reads the state from a file.
    init(_ connection: SQLiteConnection) throws {
        let statement = try SQLiteStatement("SELECT name, value FROM state", on: connection)
        for (name, value) in try statement.all({ ($0.string(0), $0.string(1)) }) {
            switch name {
            case "sequence": sequence = UpdateSequence(Int64(value) ?? 0)
            case "purges": purges = Int64(value) ?? 0
            case "instance": instance = value
            case "collation": collation = value
            case "witness": witness = value
            default: break
            }
        }
    }

    /// Selects only the last processed change.
    static let sequenceQuery = "SELECT value FROM state WHERE name = CAST('sequence' AS BLOB)"

    /// The last processed change in a file, by ``sequenceQuery``.
    static func sequence(by statement: SQLiteStatement) throws -> UpdateSequence {
        UpdateSequence(try statement.first { Int64($0.string(0)) } ?? 0)
    }

    /// Writes the state, within a transaction.
    func store(with statement: SQLiteStatement) throws {
        let all = [
            ("sequence", String(sequence.number)), ("purges", String(purges)), ("instance", instance),
            ("collation", collation), ("witness", witness),
        ]
        for (name, value) in all {
            statement.bind(1, utf8: name)
            statement.bind(2, utf8: value)
            try statement.run()
        }
    }
}

// MARK: - Transaction

extension SQLiteConnection {
    /// Runs a closure in a transaction, which is rolled back when it throws.
    func transact(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }
}
