public import Settle

/// A database for one test, closed and removed when the object is released.
///
///     let temporary = try TemporaryDatabase(.file)
///     try temporary.database.save(Document(id: "a"), onConflict: .fail)
///     try temporary.reopen()
public final class TemporaryDatabase {
    /// The database; a new object after ``reopen()``.
    public private(set) var database: Database
    /// Its storage.
    public let kind: DatabaseKind
    private let folder: TemporaryFolder?
    private let options: DatabaseOptions

    /// Makes an empty database.
    ///
    /// - Throws: ``DatabaseError`` when it can't be created.
    public init(_ kind: DatabaseKind, options: DatabaseOptions = DatabaseOptions()) throws {
        self.kind = kind
        self.options = options
        folder = kind == .file ? try TemporaryFolder() : nil
        database =
            try folder.map { try Database.create($0("test.settle"), options: options) }
            ?? Database.inMemory(options: options)
    }

    deinit { database.close() }

    /// Closes the database and opens it again; has no effect in memory, where closing would discard it.
    ///
    /// - Throws: ``DatabaseError`` when it can't be opened.
    public func reopen() throws {
        guard let path = database.path else { return }
        database.close()
        database = try Database.open(path, options: options)
    }
}

/// Runs a closure with an empty database that is always removed afterwards.
///
/// - Throws: What the closure throws.
public func withTemporaryDatabase<Result>(
    _ kind: DatabaseKind, options: DatabaseOptions = DatabaseOptions(), _ body: (Database) throws -> Result
) throws -> Result {
    let temporary = try TemporaryDatabase(kind, options: options)
    return try withExtendedLifetime(temporary) { try body(temporary.database) }
}

/// Runs an asynchronous closure with an empty database that is always removed afterwards.
///
/// - Throws: What the closure throws.
public func withTemporaryDatabase<Result>(
    _ kind: DatabaseKind, options: DatabaseOptions = DatabaseOptions(),
    _ body: @Sendable (Database) async throws -> Result
) async throws -> Result {
    let temporary = try TemporaryDatabase(kind, options: options)
    defer { withExtendedLifetime(temporary) {} }
    return try await body(temporary.database)
}

/// The storage of a temporary database. The same tests run on every kind, to check that all behave alike.
public enum DatabaseKind: String, CaseIterable, Sendable, CustomStringConvertible {
    /// In a separate folder, which is removed afterwards.
    case file
    /// In memory.
    case memory

    /// The kind's name.
    public var description: String { rawValue }
}
