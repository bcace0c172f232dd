package import SettleDatabase
internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The indexes of a database, each a file in the folder `views` of the database.
///
/// The most recently used files are open, at most ``DatabaseOptions/openIndexes`` of them. The file of a removed index
/// stays as long as something refers to the index, because a query opens and closes connections to it by its path:
///
///     remove ─→ nothing refers to it ────────────────────────────────→ the file goes
///            ─→ queries run ─→ they end ─────────────────────────────→ the file goes
///                           ─→ an index of the same name is wanted ─→ it is this one, and the file stays
///
/// A transaction that has changed documents uses another file, `…-transaction`, because its changes may never be
/// committed, and other threads must not read their rows. One file is enough for all transactions, because one at a
/// time writes. Like any index, it is updated to the state that a transaction reads. It is built anew after a
/// transaction that has used it, or a nested one, has failed: the numbers of the undone changes are used again, so the
/// file does not tell. The same is done at its first use, because a transaction may have been killed with its process.
/// It is removed together with the index of its name. A database in memory uses it in every transaction.
///
/// The indexes of a database without a folder are in ``DatabaseOptions/indexFolder``, or in a temporary folder, which is
/// removed with the database.
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
        /// Whether the file is removed with the index. The index has the same object.
        let isDoomed: Guarded<Bool>
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
    /// index. Inside a transaction that has changed documents, or any in memory, it is the one for transactions.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - asStored: Whether the index is read without an update. It is then never the one for transactions.
    ///   - make: Creates the index.
    /// - Returns: The index.
    /// - Throws: ``DatabaseError`` with code `inputOutput` when the folder can't be created.
    package func index<Index: FiledIndex>(
        _ name: String, asStored: Bool = false, _ make: (IndexPlace) -> Index
    ) throws -> Index {
        let isForTransaction = !asStored && openIndexes.areForTransaction
        let name = isForTransaction ? name + Self.transactionSuffix : name
        let index = try known.withLock { known -> Index in
            if let entry = known[name], let index = entry.index as? Index {
                entry.isDoomed.withLock { $0 = false }
                return index
            }
            try makePrivateFolder(folder)
            let isDoomed = Guarded(false)
            let made = make(
                IndexPlace(
                    path: path(name), openIndexes: openIndexes, lock: lock, isDoomed: isDoomed,
                    hasUndoneRows: Guarded(isForTransaction)
                ) { [weak self] in
                    self?.end(name, isDoomed)
                })
            // An earlier index of this name may still be closing its files. Then both have the same ones.
            known[name] = Entry(index: made, isDoomed: isDoomed)
            return made
        }
        if isForTransaction {
            let use = UncommittedUse(of: index)
            try openIndexes.afterCommit { use.commit() }
        }
        return index
    }

    /// An index by name, if it is in use or was recently.
    func known(_ name: String) -> ViewIndex? {
        let index = known.withLock { $0[name]?.index }
        return index?.use.isDoomed == true ? nil : index as? ViewIndex
    }

    /// Whether nothing refers to an index of this name, nor to the one for transactions.
    func isNew(_ name: String) -> Bool {
        known.withLock { $0[name] == nil && $0[name + Self.transactionSuffix] == nil }
    }

    /// Removes indexes by their names. The file of one that is in use is removed afterwards.
    package func remove(where isDoomed: (String) -> Bool) {
        // Released outside the lock, which the end of an index takes.
        let used = known.withLock { known -> [any FiledIndex] in
            var used: [any FiledIndex] = []
            for (name, entry) in known where isDoomed(Self.plain(name)) {
                entry.isDoomed.withLock { $0 = true }
                if let index = entry.index { used.append(index) }
            }
            for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                guard let name = file.split(separator: ".").first.map(String.init), isDoomed(Self.plain(name)),
                    known[name] == nil
                else { continue }
                try? FileManager.default.removeItem(atPath: folder + "/" + file)
            }
            return used
        }
        for index in used { openIndexes.forget(index) }
    }

    /// Forgets an index that has closed its files, and removes them if that is due.
    private func end(_ name: String, _ isDoomed: Guarded<Bool>) {
        known.withLock { known in
            guard let entry = known[name], entry.isDoomed === isDoomed else { return }
            known[name] = nil
            if isDoomed.withLock({ $0 }) { IndexFile.remove(path(name)) }
        }
    }

    /// The size of an index's file in bytes.
    package func size(_ name: String) -> Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            let size = try? FileManager.default.attributesOfItem(atPath: path(name) + suffix)[.size] as? Int
            return sum + (size ?? 0)
        }
    }

    /// The end of the names of indexes for transactions.
    private static let transactionSuffix = "-transaction"

    /// The name without the end for transactions.
    private static func plain(_ name: String) -> String {
        name.hasSuffix(transactionSuffix) ? String(name.dropLast(transactionSuffix.count)) : name
    }

    private func path(_ name: String) -> String { folder + "/" + name + ".index" }
}

// MARK: - UncommittedUse

/// The use of an index in a transaction. It is released after the commit, or when the changes before the use are undone.
private final class UncommittedUse: Sendable {
    private let hasUndoneRows: Guarded<Bool>
    private let isCommitted = Guarded(false)

    init(of index: any FiledIndex) { hasUndoneRows = index.use.hasUndoneRows }

    deinit {
        if !isCommitted.withLock({ $0 }) { hasUndoneRows.withLock { $0 = true } }
    }

    func commit() { isCommitted.withLock { $0 = true } }
}
