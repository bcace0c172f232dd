internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A folder of databases, each with a name.
///
///     let store = try DocumentStore(path: "data")
///     let notes = try store.openOrCreate("notes")
///     try store.names()                              // ["notes"]
///
/// Names follow CouchDB's rules: a lower-case letter, then lower-case letters, digits and `_$()+-/`; `_users`,
/// `_replicator` and `_global_changes` are allowed, too.
public struct DocumentStore: Sendable {
    /// The folder.
    public let path: String
    private var options: DatabaseOptions
    /// The end of the name of a database's folder.
    package static let suffix = ".settle"

    /// Opens a store, and creates its folder if needed.
    ///
    /// - Throws: ``DatabaseError`` with code `notADatabase` if the path is a file, or `inputOutput`.
    public init(path: String, options: DatabaseOptions = DatabaseOptions()) throws {
        self.path = path
        self.options = options
        if let status = FileStatus(path: path), !status.isFolder {
            throw DatabaseError(
                .notADatabase, "\(path) is a file, and a store is a folder of databases; choose another path")
        }
        try makePrivateFolder(path)
        do {
            // Completes deletions that a crash interrupted.
            for name in try FileManager.default.contentsOfDirectory(atPath: path)
            where name.hasSuffix(Self.suffix + DatabaseFiles.doomedSuffix) {
                try? FileManager.default.removeItem(atPath: path + "/" + name)
            }
        } catch {
            throw fileManagerError("can't list the folder \(path)", error)
        }
    }

    /// Opens a database that exists; see ``Database/open(_:options:)``.
    public func open(_ name: String) throws -> Database { try Database.open(folder(of: name), options: options) }

    /// Creates a database; see ``Database/create(_:options:)``.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for an illegal name, `exists`, or `inputOutput`.
    public func create(_ name: String) throws -> Database { try Database.create(folder(of: name), options: options) }

    /// Opens a database, or creates it if it does not exist.
    public func openOrCreate(_ name: String) throws -> Database {
        try Database.openOrCreate(folder(of: name), options: options)
    }

    /// Deletes a database with its contents; an open one is closed first.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound`, `inUse` if another process has it open, or `inputOutput`.
    public func delete(_ name: String) throws {
        try Database.remove(folder(of: name), calling: "\"\(name)\"")
    }

    /// The names of all databases, sorted.
    public func names() throws -> [String] { try listedNames().filter(contains).sorted() }

    /// The names of all folders that have a valid name of a database, in no order. The folders' contents are not
    /// checked.
    package func listedNames() throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).compactMap { folder in
                Self.name(ofFolder: folder).flatMap { Self.isName($0) ? $0 : nil }
            }
        } catch {
            throw fileManagerError("can't list the folder \(path)", error)
        }
    }

    /// Whether a database with a name exists.
    public func contains(_ name: String) -> Bool {
        (try? folder(of: name)).map { DatabaseFiles.exist(in: $0) } ?? false
    }

    /// The same store, except that its databases leave a short write-ahead log unchanged when they close. Opening
    /// and closing a database then needs no synchronization of the disk, and the log is emptied when it becomes
    /// long.
    package func leavingShortLogs() -> DocumentStore {
        var store = self
        store.options.leavesShortLogs = true
        return store
    }

    /// Whether a name is legal for a database.
    public static func isName(_ name: String) -> Bool {
        if ["_users", "_replicator", "_global_changes"].contains(name) { return true }
        guard let first = name.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first else { return false }
        return name.utf8.count <= 238 && name.utf8.allSatisfy(Self.allowed.contains)
    }

    private static let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789_$()+-/".utf8)

    /// Checks that a name is legal for a database.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    package static func checkName(_ name: String) throws {
        guard isName(name) else {
            throw DatabaseError(
                .invalid,
                """
                \"\(name)\" is not a valid name for a database: it must begin with a lower-case letter, and may continue with those, \
                digits, and any of _ $ ( ) + - /
                """)
        }
    }

    private func folder(of name: String) throws -> String {
        try Self.checkName(name)
        return path + "/" + Self.stem(of: name) + Self.suffix
    }

    /// The name of a database as a part of a file's name, in which a slash is `%2F`.
    package static func stem(of name: String) -> String { name.replacing("/", with: "%2F") }

    /// The name of the database in a folder of a store: `a/b` of `a%2Fb.settle`; `nil` for a folder of another name.
    package static func name(ofFolder folder: String) -> String? {
        guard folder.hasSuffix(suffix) else { return nil }
        let stem = String(folder.dropLast(suffix.count))
        return stem.utf8.contains(UInt8(ascii: "%")) ? stem.replacing("%2F", with: "/") : stem
    }
}

// MARK: - Database Store

extension DocumentStore: DatabaseStore, ServerStore {
    /// The folder's path.
    public var place: String { path }

    /// `false`: a folder belongs to one server.
    package var isShared: Bool { false }

    /// Creates a list in memory, which is read again if another program has changed the folder.
    package func nameList() -> any DatabaseNameList { FolderNames(self) }

    /// Creates the record from the file `server.json` in the folder, and the folder's lock.
    package func serverRecord() -> any ServerRecord { FolderRecord(path) }

    /// Does nothing, because there are no other nodes.
    package func freshen(_ names: [String]) throws {}

    /// Creates the folder `uploads` in the store's folder. It is not in a database's folder, because the
    /// modification time of the store's folder indicates changes of databases.
    package func uploadFolder() throws -> String {
        let folder = path + "/uploads"
        try makePrivateFolder(folder)
        return folder
    }
}

// MARK: - Suspend

extension DocumentStore {
    /// Suspends all databases of the store that this process has open; see ``Database/suspend()``. Apps call it when the
    /// system is about to suspend them.
    ///
    /// - Throws: The first error; all other databases are suspended anyway.
    public func suspend() throws { try forEachOpen { try $0.suspend() } }

    /// Resumes all databases of the store; see ``Database/resume()``.
    ///
    /// - Throws: The first error; all other databases are resumed anyway.
    public func resume() throws { try forEachOpen { try $0.resume() } }

    private func forEachOpen(_ body: (Database) throws -> Void) throws {
        var failure: (any Error)?
        for database in DatabaseRegistry.shared.databases(in: path) {
            do { try body(database) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
