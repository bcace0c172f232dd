internal import Foundation
internal import SettlePlatform

/// A database of LevelDB, opened for reading only: nothing in its folder is created, locked, replayed or compacted.
///
///     CURRENT → MANIFEST-N → tables of seven levels (N.ldb, N.sst), logs (N.log)
///
/// Of a key the entry with the highest sequence counts, wherever it is. In memory are the index and one block of each table at
/// hand, and the logs, which LevelDB keeps small; long values of logs stay in their files.
final class LevelDatabase {
    /// What of the database was not read, each in a few words.
    private(set) var unread: [String] = []
    private let folder: URL
    private let manifest: LevelManifest
    private let logs: [ForeignFile]
    /// The keys of the logs in order, each with its newest entry.
    private var recent: [(key: [UInt8], entry: Entry)] = []
    /// The tables of level 0, which overlap, and of the other levels, which don't, in the order of their keys.
    private let levels: [[LevelManifest.Table]]
    /// Open tables, the one used last at the end.
    private var cached: [(number: UInt64, table: LevelTable)] = []

    private static let maximumOpen = 64
    private static let maximumFootprint = 32 << 20
    /// Values of at least this length stay in the log.
    private static let longValue = 16 << 10

    /// The newest entry of a key.
    fileprivate struct Entry {
        let sequence: UInt64
        let value: Value
    }

    fileprivate enum Value {
        case deleted
        case bytes([UInt8])
        /// A part of the record at a position of a log.
        case record(log: Int, position: Int, Range<Int>)
        case block(LevelBlock, Range<Int>)
    }

    /// Whether a folder is a database of LevelDB.
    static func isDatabase(_ folder: URL) -> Bool {
        guard let status = FileStatus(path: folder.appending(path: "CURRENT").path), status.isRegular,
            status.size < 4096
        else { return false }
        let text = (try? Data(contentsOf: folder.appending(path: "CURRENT"))) ?? Data()
        return text.starts(with: "MANIFEST-".utf8)
    }

    /// Opens a database.
    ///
    /// - Throws: ``ForeignFileError`` with code `inUse` if a program has it open, `unsupported` if its keys have another order
    ///   than that of their bytes.
    init(_ folder: URL) throws {
        self.folder = folder
        try Self.checkLock(folder)
        let pointer = try ForeignFile(folder.appending(path: "CURRENT"))
        let current = String(decoding: try pointer.read(at: 0, count: min(pointer.size, 4096)), as: UTF8.self)
        let name = current.trimmingCharacters(in: .whitespacesAndNewlines)
        guard name.hasPrefix("MANIFEST-"), name.dropFirst(9).allSatisfy(\.isNumber), current.hasSuffix("\n") else {
            throw ForeignFileError(.damaged, "CURRENT does not name a manifest")
        }
        let cut: Int
        (manifest, cut) = try Self.manifest(ForeignFile(folder.appending(path: name)))
        guard !manifest.comparator.isEmpty else { throw ForeignFileError(.damaged, "\(name) is damaged: it is cut") }
        guard manifest.comparator == "leveldb.BytewiseComparator" else {
            throw Self.refusal(of: manifest.comparator, folder)
        }
        levels = manifest.levels.enumerated().map { level, tables in
            tables.values.sorted {
                level == 0 ? $0.number < $1.number : LevelKey.precedes($0.smallest.dropLast(8), $1.smallest.dropLast(8))
            }
        }
        logs = try Self.logs(folder, manifest)
        if cut > 0 { unread.append("the last \(cut) bytes of \(name), which are cut") }
        try readLogs()
    }

    /// Asks whether a program holds the lock; it is not taken.
    private static func checkLock(_ folder: URL) throws {
        let path = folder.appending(path: "LOCK").path
        guard FileStatus(path: path)?.isRegular == true else { return }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return }
        throw ForeignFileError(.inUse, "\(folder.lastPathComponent) is open in another program: close that first")
    }

    /// The state in a manifest, and how many bytes at its end are cut.
    private static func manifest(_ file: ForeignFile) throws -> (LevelManifest, cut: Int) {
        var manifest = LevelManifest()
        var log = LevelLog(file)
        while let record = try log.next() {
            guard record.bytes.withUnsafeBytes({ manifest.apply($0) }) else {
                throw ForeignFileError(.damaged, "\(file.name) is damaged: a record is malformed")
            }
        }
        // The state of before the damage would be that of other files.
        guard !log.isDamaged else { throw ForeignFileError(.damaged, "\(file.name) is damaged: a checksum differs") }
        return (manifest, log.unread)
    }

    private static func refusal(of comparator: String, _ folder: URL) -> ForeignFileError {
        let name = folder.lastPathComponent
        if comparator == "idb_cmp1" {
            return ForeignFileError(
                .unsupported,
                "\(name) is an IndexedDB of Chromium, which only the browser can read: copy the documents out in the app"
            )
        }
        return ForeignFileError(
            .unsupported,
            "\(name) is a LevelDB whose keys are in an order of its own (\(comparator)), not one of PouchDB")
    }

    /// The logs that count, in order.
    private static func logs(_ folder: URL, _ manifest: LevelManifest) throws -> [ForeignFile] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let numbers = names.compactMap { $0.hasSuffix(".log") ? UInt64($0.dropLast(4)) : nil }
        guard numbers.contains(manifest.logNumber) else {
            let name = String(format: "%06llu.log", manifest.logNumber)
            throw ForeignFileError(.missing, "\(name) is not in \(folder.lastPathComponent): copy the whole folder")
        }
        return
            try names
            .filter { name in
                guard name.hasSuffix(".log"), let number = UInt64(name.dropLast(4)) else { return false }
                return number >= manifest.logNumber || (number == manifest.previousLog && number > 0)
            }
            .sorted { ($0.count, $0) < ($1.count, $1) }.map { try ForeignFile(folder.appending(path: $0)) }
    }

    private func readLogs() throws {
        var newest: [[UInt8]: Entry] = [:]
        for (number, file) in logs.enumerated() {
            var log = LevelLog(file)
            while let record = try log.next() {
                try add(record, of: number, to: &newest)
            }
            if log.unread > 0 {
                unread.append(
                    "the last \(log.unread) bytes of \(file.name), which are \(log.isDamaged ? "damaged" : "cut")")
            }
        }
        recent = newest.map { ($0.key, $0.value) }.sorted { LevelKey.precedes($0.0, $1.0) }
    }

    private func add(
        _ record: (position: Int, bytes: [UInt8]), of log: Int, to newest: inout [[UInt8]: Entry]
    ) throws {
        guard let changes = record.bytes.withUnsafeBytes({ LevelBatch.changes(in: $0) }) else {
            throw ForeignFileError(
                .damaged, "\(logs[log].name) is damaged: the record at \(record.position) is malformed")
        }
        for change in changes {
            let key = Array(record.bytes[change.key])
            if let known = newest[key], known.sequence > change.sequence { continue }
            let value: Value =
                if let range = change.value {
                    range.count < Self.longValue
                        ? .bytes(Array(record.bytes[range])) : .record(log: log, position: record.position, range)
                } else { .deleted }
            newest[key] = Entry(sequence: change.sequence, value: value)
        }
    }

    private func table(_ table: LevelManifest.Table) throws -> LevelTable {
        if let index = cached.lastIndex(where: { $0.number == table.number }) {
            let found = cached.remove(at: index)
            cached.append(found)
            return found.table
        }
        let names = ["ldb", "sst"].map { String(format: "%06llu.", table.number) + $0 }
        let urls = names.map { folder.appending(path: $0) }
        let opened = try LevelTable(
            ForeignFile(urls.first { FileManager.default.fileExists(atPath: $0.path) } ?? urls[0]))
        cached.append((table.number, opened))
        while cached.count > Self.maximumOpen
            || (cached.count > 1 && cached.reduce(0, { $0 + $1.table.footprint }) > Self.maximumFootprint)
        { cached.removeFirst() }
        return opened
    }

    private func bytes(of value: Value) throws -> [UInt8]? {
        switch value {
        case .deleted: return nil
        case .bytes(let bytes): return bytes
        case .block(let block, let range): return Array(block.bytes[range])
        case .record(let log, let position, let range):
            var reader = LevelLog(logs[log], at: position)
            guard let record = try reader.next(), range.upperBound <= record.bytes.count else {
                throw ForeignFileError(.damaged, "\(logs[log].name) is damaged at \(position)")
            }
            return Array(record.bytes[range])
        }
    }

    // MARK: - Reading

    /// The value of a key; `nil` if there is none.
    ///
    /// - Throws: ``ForeignFileError``.
    func value(of key: [UInt8]) throws -> [UInt8]? {
        var newest: Entry?
        let place = recent.firstIndexInOrder { !LevelKey.precedes($0.key, key) }
        if recent.indices.contains(place), recent[place].key == key { newest = recent[place].entry }
        for (level, tables) in levels.enumerated() {
            for candidate in level == 0 ? tables[...] : Self.candidates(tables, for: key)
            where !LevelKey.precedes(key, candidate.smallest.dropLast(8))
                && !LevelKey.precedes(candidate.largest.dropLast(8), key)
            {
                var cursor = try LevelTable.Cursor(table(candidate), from: key)
                guard try cursor.next(), let found = LevelKey(cursor.key), found.user.elementsEqual(key) else {
                    continue
                }
                if let newest, newest.sequence >= found.sequence { continue }
                newest = Entry(
                    sequence: found.sequence, value: found.isValue ? .block(cursor.block, cursor.value) : .deleted)
            }
        }
        return try newest.flatMap { try bytes(of: $0.value) }
    }

    /// The table of a level that may have a key; two where its entries lie on both sides of a border.
    private static func candidates(_ tables: [LevelManifest.Table], for key: [UInt8]) -> ArraySlice<LevelManifest.Table>
    {
        let first = tables.firstIndexInOrder { !LevelKey.precedes($0.largest.dropLast(8), key) }
        return tables[first..<min(first + 2, tables.count)]
    }

    /// Passes the keys with a prefix and their values, in ascending order.
    ///
    /// - Throws: ``ForeignFileError``, and what `body` throws.
    func forEach(prefix: [UInt8], _ body: (ArraySlice<UInt8>, () throws -> [UInt8]) throws -> Void) throws {
        var sources = try sources(from: prefix)
        var last: [UInt8]?
        while let lowest = Self.lowest(of: sources) {
            let (key, entry) = lowest
            guard key.starts(with: prefix) else { return }
            if let last, !LevelKey.precedes(last, key) {
                throw ForeignFileError(.damaged, "\(folder.lastPathComponent) is damaged: keys are not in order")
            }
            last = key
            if case .deleted = entry.value {
            } else {
                try body(key.dropFirst(prefix.count)) { try self.bytes(of: entry.value) ?? [] }
            }
            for index in sources.indices { try sources[index].advance(past: key) }
        }
    }

    private func sources(from start: [UInt8]) throws -> [Source] {
        var sources: [Source] = [.recent(recent[recent.firstIndexInOrder { !LevelKey.precedes($0.key, start) }...])]
        for (level, tables) in levels.enumerated() {
            let later = tables.filter { !LevelKey.precedes($0.largest.dropLast(8), start) }
            let runs = level == 0 ? later.map { [$0] } : [later]
            for run in runs where !run.isEmpty {
                sources.append(.tables(Run(self, tables: run[...], start: start)))
            }
        }
        for index in sources.indices { try sources[index].advance(past: nil) }
        return sources
    }

    /// The lowest key of the sources, with its newest entry.
    private static func lowest(of sources: [Source]) -> (key: [UInt8], entry: Entry)? {
        var lowest: (key: [UInt8], entry: Entry)?
        for source in sources {
            guard let found = source.current else { continue }
            if let known = lowest {
                let order = LevelKey.compare(found.key, known.key)
                guard order < 0 || (order == 0 && found.entry.sequence > known.entry.sequence) else { continue }
            }
            lowest = found
        }
        return lowest
    }

    /// A source of keys in ascending order.
    private enum Source {
        case recent(ArraySlice<(key: [UInt8], entry: Entry)>)
        case tables(Run)

        var current: (key: [UInt8], entry: Entry)? {
            switch self {
            case .recent(let rest): rest.first
            case .tables(let run): run.current
            }
        }

        /// Moves past a key; to the first one for `nil`.
        mutating func advance(past key: [UInt8]?) throws {
            switch self {
            case .recent(var rest):
                guard let key, rest.first?.key == key else { return }
                self = .recent([])
                rest.removeFirst()
                self = .recent(rest)
            case .tables(var run):
                self = .recent([])
                defer { self = .tables(run) }
                if let key {
                    // Older entries of the key follow it.
                    while let current = run.current, current.key == key { try run.next() }
                } else {
                    try run.next()
                }
            }
        }
    }

    /// Tables of one level that follow each other.
    private struct Run {
        private let database: LevelDatabase
        private var tables: ArraySlice<LevelManifest.Table>
        private let start: [UInt8]
        private var cursor: LevelTable.Cursor?
        private(set) var current: (key: [UInt8], entry: Entry)?

        init(_ database: LevelDatabase, tables: ArraySlice<LevelManifest.Table>, start: [UInt8]) {
            (self.database, self.tables, self.start) = (database, tables, start)
        }

        mutating func next() throws {
            let last = current?.key
            current = nil
            while true {
                if try cursor?.next() ?? false, let cursor {
                    guard let key = LevelKey(cursor.key) else {
                        throw ForeignFileError(.damaged, "a table of \(database.folder.lastPathComponent) is damaged")
                    }
                    let user = Array(key.user)
                    if let last, LevelKey.precedes(user, last) {
                        throw ForeignFileError(
                            .damaged, "\(database.folder.lastPathComponent) is damaged: tables of a level overlap")
                    }
                    current = (
                        user,
                        Entry(
                            sequence: key.sequence, value: key.isValue ? .block(cursor.block, cursor.value) : .deleted)
                    )
                    return
                }
                guard let table = tables.popFirst() else {
                    cursor = nil
                    return
                }
                cursor = try LevelTable.Cursor(database.table(table), from: start)
            }
        }
    }
}
