internal import SettleCore
internal import SettleDatabase

/// How far an index was updated, and what it was made for.
struct IndexState: Equatable {
    /// The last processed change of the database.
    var sequence: UpdateSequence = 0
    /// The number of processed purges.
    var purges: Int64 = 0
    /// The instance of the database it was made for.
    var instance = ""
    /// The order of strings it was made with.
    var collation = ""
    /// The document of the last change, with its winner then. If the database no longer has it, the index has
    /// survived a loss of the newest writes.
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
