/// The tables of an index file.
///
/// Each kind of index has `state`, with how far it was updated and what it was made for, and `documents`, with what a
/// document has in it, so that it can be removed. All change in one transaction.
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
        // By scalars, because a quote and a mark that follows it are one character.
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
