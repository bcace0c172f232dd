internal import RevisionTree
internal import SettleDatabase

/// How far an index has come, and for what it was made.
struct IndexState: Equatable {
    /// The database's last change that it knows.
    var sequence: UpdateSequence = 0
    /// How many purges it knows.
    var purges: Int64 = 0
    /// The very database it was made for.
    var instance = ""
    /// The order of strings it was made in.
    var collation = ""
    /// The document whose change was the last one, and its winner then: whether the database still knows it tells an index
    /// that has outlived a loss of what was written last.
    var witness = ""

    init() {}

    /// Reads the state of a file.
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

    /// Asks for the last change of the database that a file knows, alone.
    static let sequenceQuery = "SELECT value FROM state WHERE name = CAST('sequence' AS BLOB)"

    /// The last change of the database that a file knows, by ``sequenceQuery``.
    static func sequence(by statement: SQLiteStatement) throws -> UpdateSequence {
        UpdateSequence(try statement.first { Int64($0.string(0)) } ?? 0)
    }

    /// Writes it, within a transaction.
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
