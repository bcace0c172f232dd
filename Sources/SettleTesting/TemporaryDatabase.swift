internal import Foundation
public import Settle
internal import SettlePlatform

/// A database for one test, closed and removed when the object is released.
///
///     let temporary = try TemporaryDatabase(.file)
///     try temporary.database.save(Document(id: "a"), onConflict: .fail)
///     try temporary.reopen()
public final class TemporaryDatabase: Sendable {
    /// The database; a new object after ``reopen()``.
    public var database: Database { held.withLock { $0 } }
    private let held: Guarded<Database>
    /// Its storage.
    public let kind: DatabaseKind
    private let folder: TemporaryFolder?
    private let other: OtherStorage?
    private let options: DatabaseOptions

    /// Creates an empty database.
    ///
    /// - Throws: ``DatabaseError`` when it can't be created.
    public init(_ kind: DatabaseKind, options: DatabaseOptions = DatabaseOptions()) throws {
        self.kind = kind
        self.options = options
        folder = kind == .file ? try TemporaryFolder() : nil
        other = kind == .other ? try OtherStorage.make() : nil
        held = Guarded(
            try folder.map { try Database.create($0("test.settle"), options: options) }
                ?? other?.open(options) ?? Database.inMemory(options: options))
    }

    deinit {
        database.close()
        other?.remove()
    }

    /// Closes the database and opens it again. Does nothing in memory, where closing would discard it.
    ///
    /// - Throws: ``DatabaseError`` when it can't be opened.
    public func reopen() throws {
        let old = database
        guard old.path != nil || other != nil else { return }
        old.close()
        let new = try other?.open(options) ?? old.path.map { try Database.open($0, options: options) } ?? old
        held.withLock { $0 = new }
    }
}

/// Runs a closure with an empty database that is always removed afterwards.
///
/// - Throws: Errors of the closure.
public func withTemporaryDatabase<Result>(
    _ kind: DatabaseKind, options: DatabaseOptions = DatabaseOptions(), _ body: (Database) throws -> Result
) throws -> Result {
    let temporary = try TemporaryDatabase(kind, options: options)
    return try withExtendedLifetime(temporary) { try body(temporary.database) }
}

/// Runs an asynchronous closure with an empty database that is always removed afterwards.
///
/// - Throws: Errors of the closure.
public func withTemporaryDatabase<Result>(
    _ kind: DatabaseKind, options: DatabaseOptions = DatabaseOptions(),
    _ body: @Sendable (Database) async throws -> Result
) async throws -> Result {
    let temporary = try TemporaryDatabase(kind, options: options)
    defer { withExtendedLifetime(temporary) {} }
    return try await body(temporary.database)
}

/// The storage of a temporary database. The same tests run on every kind, to check that all behave equally.
public enum DatabaseKind: String, CaseIterable, Sendable, CustomStringConvertible {
    /// In a separate folder, which is removed afterwards.
    case file
    /// In memory.
    case memory
    /// On the storage engine that was passed to ``OtherStorage/use(_:)``.
    case other

    /// The kinds that Settle itself has.
    public static var allCases: [DatabaseKind] { [.file, .memory] }

    /// The kind's name.
    public var description: String { rawValue }
}

/// The storage of another engine, on which the tests of databases run as well.
///
///     OtherStorage.use {
///         let name = newName()
///         return OtherStorage(open: { try Database.make(on: MyEngine(name), options: $0) }, remove: { MyEngine.remove(name) })
///     }
public struct OtherStorage: Sendable {
    /// Opens the database, and creates it at the first call.
    public let open: @Sendable (DatabaseOptions) throws -> Database
    /// Removes it.
    public let remove: @Sendable () -> Void

    private static let maker = Guarded<Maker?>(nil)
    private struct Maker: Sendable { let make: @Sendable () throws -> OtherStorage }

    /// Creates a value.
    public init(
        open: @escaping @Sendable (DatabaseOptions) throws -> Database, remove: @escaping @Sendable () -> Void
    ) {
        (self.open, self.remove) = (open, remove)
    }

    /// Sets the closure that creates the storage for ``DatabaseKind/other``.
    public static func use(_ make: @escaping @Sendable () throws -> OtherStorage) {
        maker.withLock { $0 = Maker(make: make) }
    }

    static func make() throws -> OtherStorage {
        guard let maker = maker.withLock({ $0 }) else {
            throw DatabaseError(.invalid, "no other storage was set: call OtherStorage.use first")
        }
        return try maker.make()
    }
}

// MARK: - TemporaryFolder

/// A folder for one test, removed with its content when the object is released.
public final class TemporaryFolder: Sendable {
    /// The folder's path.
    public let path: String

    /// Makes a new empty folder.
    ///
    /// - Throws: The system's error if it can't be created.
    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/settle-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in the folder.
    public func callAsFunction(_ name: String) -> String { path + "/" + name }
}
