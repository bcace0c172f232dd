internal import Dispatch
internal import SettlePlatform

/// The sorted names of all databases of a folder, cached from their first use.
///
/// The list is updated when the server creates or deletes a database. The folder is read again only if another
/// program has changed it, which its modification time shows. If another program makes a change in the same moment
/// as the server, it may be missed. So the folder is also read again in the background some seconds after the
/// server's own changes, if the list is still in use.
final class FolderNames: DatabaseNameList {
    fileprivate struct State {
        var names: [String] = []
        /// Names of folders without a database file: the database is being copied or created, or the folder remains
        /// from a crash.
        var unfinished: [String] = []
        /// The state of the folder when it was read; `nil` before that, and after another program has changed it.
        var folder: FileStatus?
        /// The number of creations and deletions by the server that are in progress.
        var changes = 0
        /// The creations and deletions by the server while the folder is being read; `nil` while it is not being
        /// read.
        var meanwhile: [(name: String, isThere: Bool)]?
        /// The time since which a change by another program may have been missed.
        var doubt: DispatchTime?
        /// Whether a background read of the folder is running or planned.
        var isChecking = false
    }

    private let store: DocumentStore
    private let state = Guarded(State())
    /// One thread reads the folder at a time.
    private let reading = Guarded(())
    /// The seconds after a change by the server until the folder is read again.
    private static let patience = 10.0

    init(_ store: DocumentStore) { self.store = store }

    /// The closure must not keep the names; otherwise the next change has to copy them.
    func read<Result: Sendable>(_ body: ([String]) throws -> Result) throws -> Result {
        try refresh()
        return try state.withLock { state in
            state.finish { store.contains($0) }
            return try body(state.names)
        }
    }

    /// Only the files of databases that satisfy the condition are checked.
    func names(where condition: (String) -> Bool) throws -> [String] {
        try store.listedNames().filter { condition($0) && store.contains($0) }.sorted()
    }

    func change<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        let before = FileStatus(path: store.path)
        state.withLock { state in
            if state.changes == 0, state.folder != before { state.folder = nil }
            state.changes += 1
        }
        defer {
            let after = FileStatus(path: store.path)
            state.withLock { state in
                state.changes -= 1
                if state.folder != nil { state.folder = after }
                // The folder is checked here, because another change of the name may have been faster.
                state.set(name, store.contains(name))
                state.doubt = state.doubt ?? .now()
            }
        }
        return try body()
    }

    /// Reads the folder if another program has changed it.
    private func refresh() throws {
        let now = FileStatus(path: store.path)
        let (isCurrent, isDoubtful) = state.withLock { state -> (Bool, Bool) in
            guard state.folder != nil, state.changes > 0 || state.folder == now else { return (false, false) }
            guard let doubt = state.doubt, !state.isChecking, DispatchTime.now() > doubt + Self.patience else {
                return (true, false)
            }
            state.isChecking = true
            return (true, true)
        }
        if isDoubtful {
            DispatchQueue.global(qos: .utility).async { [weak self] in
                // If the folder can't be read, the next request that reads it reports the error.
                try? self?.list(asOf: nil)
            }
        }
        if !isCurrent { try list(asOf: now) }
    }

    /// Reads the folder, unless it was already read in its present state.
    private func list(asOf wanted: FileStatus?) throws {
        try reading.withLock { _ in
            let before = FileStatus(path: store.path)
            let start = DispatchTime.now()
            let known = state.withLock { state -> [String]? in
                if wanted != nil, state.folder != nil, state.folder == before { return nil }
                state.meanwhile = []
                return state.names
            }
            guard let known else { return }
            defer {
                state.withLock { state in
                    state.meanwhile = nil
                    state.isChecking = false
                }
            }
            let names = try store.listedNames().sorted()
            var (found, unfinished, next) = ([String](), [String](), 0)
            found.reserveCapacity(names.count)
            for name in names {
                while next < known.count, known[next] < name { next += 1 }
                let isKnown = next < known.count && known[next] == name
                if isKnown || store.contains(name) { found.append(name) } else { unfinished.append(name) }
            }
            let after = FileStatus(path: store.path)
            state.withLock { state in
                (state.names, state.unfinished) = (found, unfinished)
                let own = state.meanwhile ?? []
                for (name, isThere) in own { state.set(name, isThere) }
                state.folder = own.isEmpty && state.changes == 0 ? before : after
                state.doubt = state.folder == before && Self.isSettled(before) ? nil : start
            }
        }
    }

    /// Whether a later change would get a different modification time; the clock of the file system is coarse.
    private static func isSettled(_ folder: FileStatus?) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return folder.map { Int64(now.tv_sec) > $0.changed.seconds + 1 } ?? false
    }
}

extension FolderNames.State {
    /// Records whether a database exists.
    fileprivate mutating func set(_ name: String, _ isThere: Bool) {
        meanwhile?.append((name, isThere))
        unfinished.removeAll { $0 == name }
        let index = names.firstIndexInOrder { $0 >= name }
        let isListed = index < names.count && names[index] == name
        if isThere, !isListed { names.insert(name, at: index) }
        if !isThere, isListed { names.remove(at: index) }
    }

    /// Moves names to the list of databases once their files exist.
    fileprivate mutating func finish(_ isThere: (String) -> Bool) {
        for name in unfinished where isThere(name) { set(name, true) }
    }
}
