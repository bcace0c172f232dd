package import SettleDatabase
internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The indexes of a database, each a file in the folder `views` of the database.
///
/// The most recently used files are open, at most ``DatabaseOptions/openIndexes`` of them. The indexes of a
/// database without a folder are in ``DatabaseOptions/indexFolder``, or in a temporary folder, which is removed
/// with the database.
package final class IndexFolder: FileHolder {
    private let folder: String
    private let isTemporary: Bool
    /// Prevents other processes from using the folder, if it is not the database's own. Indexes that are still in
    /// use when the database is released also keep it.
    private let lock: FileLock?
    private let openIndexes: OpenIndexes
    private let known = Guarded<[String: Entry]>([:])

    /// A used index. It is released when its files are closed and nothing refers to it.
    private struct Entry {
        weak var index: (any FiledIndex)?
    }

    private init(_ database: Database) {
        openIndexes = OpenIndexes(limit: database.openIndexes, of: database)
        lock = database.path == nil ? database.indexFolder.flatMap { Self.lock($0, database) } : nil
        let own = database.path.map { $0 + "/views" } ?? (lock == nil ? nil : database.indexFolder)
        isTemporary = own == nil
        folder = own ?? FileManager.default.temporaryDirectory.path + "/settle-views-" + UUID().uuidString
    }

    /// Locks the folder that was chosen for a database; `nil` if that is not possible, which is reported to the
    /// app.
    private static func lock(_ folder: String, _ database: Database) -> FileLock? {
        let reason: String
        do {
            try makePrivateFolder(folder)
            if let lock = try FileLock(path: folder + "/lock") { return lock }
            reason = "another database has it"
        } catch { reason = "\(error)" }
        database.warn(
            "can't use the folder \(folder) for indexes, which are in a temporary one instead: \(reason)", in: .query)
        return nil
    }

    deinit {
        if isTemporary { try? FileManager.default.removeItem(atPath: folder) }
    }

    package func closeFiles() { openIndexes.closeAll() }

    /// The folder of a database.
    package static func of(_ database: Database) -> IndexFolder {
        database.companion(IndexFolder.self) { IndexFolder(database) }
    }

    /// The index with a name, created by a closure with the location of its file. A name always has one kind of
    /// index.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` when the folder can't be created.
    package func index<Index: FiledIndex>(_ name: String, _ make: (IndexPlace) -> Index) throws -> Index {
        try known.withLock { known in
            if let index = known[name]?.index as? Index { return index }
            try makePrivateFolder(folder)
            let made = make(IndexPlace(path: path(name), openIndexes: openIndexes, lock: lock))
            known[name] = Entry(index: made)
            return made
        }
    }

    /// An index by name, if it is in use or was recently.
    func known(_ name: String) -> ViewIndex? { known.withLock { $0[name]?.index as? ViewIndex } }

    /// Whether an index was not used since the database was opened.
    func isNew(_ name: String) -> Bool { known.withLock { $0[name] == nil } }

    /// Removes indexes by their names. Current reads continue.
    package func remove(where isDoomed: (String) -> Bool) {
        let removed = known.withLock { known in
            let doomed = known.filter { isDoomed($0.key) }
            for name in doomed.keys { known[name] = nil }
            return doomed.values.compactMap(\.index)
        }
        for index in removed { openIndexes.forget(index) }
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard let name = file.split(separator: ".").first.map(String.init), isDoomed(name) else { continue }
            try? FileManager.default.removeItem(atPath: folder + "/" + file)
        }
    }

    /// The size of an index's file in bytes.
    package func size(_ name: String) -> Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            let size = try? FileManager.default.attributesOfItem(atPath: path(name) + suffix)[.size] as? Int
            return sum + (size ?? 0)
        }
    }

    private func path(_ name: String) -> String { folder + "/" + name + ".index" }
}
