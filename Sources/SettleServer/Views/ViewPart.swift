internal import SettleDatabase
internal import SettleViews

/// A file with rows of views, and what makes them.
struct ViewPart: Sendable {
    /// The name of the file among the indexes of a database.
    let fileName: String
    let index: ViewIndex
    let mapper: any ViewMapper

    /// Brings it to where the database is now.
    ///
    /// - Throws: As ``ViewIndex/update(from:by:report:)`` does.
    func update(from database: Database, report: (_ done: Int, _ total: Int) throws -> Void) throws {
        try index.update(from: database, by: mapper, report: report)
    }
}

extension ViewPart {
    /// The rows that `_find` uses of an index.
    init(_ index: QueryIndex, of database: Database) throws {
        let (rows, mapper) = try index.files(in: database)
        self.init(fileName: index.fileName, index: rows, mapper: mapper)
    }
}
