internal import SettleDatabase

/// The prepared statements of a connection to an index, each made at its first use.
final class IndexStatements {
    private let connection: SQLiteConnection
    private var known: [String: SQLiteStatement] = [:]

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// A statement by its text, whose bindings are those of its last use.
    func prepared(_ sql: String) throws -> SQLiteStatement {
        if let statement = known[sql] { return statement }
        let made = try SQLiteStatement(sql, on: connection)
        known[sql] = made
        return made
    }

    /// A statement with the number of a view and a level as its first two values, and places after these.
    func prepared(_ sql: String, _ view: Int, _ level: Int, _ places: [UInt8]...) throws -> SQLiteStatement {
        let statement = try prepared(sql)
        statement.bind(1, Int64(view))
        statement.bind(2, Int64(level))
        for (index, place) in places.enumerated() { statement.bind(Int32(3 + index), place) }
        return statement
    }
}
