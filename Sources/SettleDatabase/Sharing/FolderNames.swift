internal import Dispatch
internal import SettlePlatform

/// The names of all databases of a folder, sorted and kept in memory from the first question for them.
///
/// What the server creates and deletes is noted here. The folder is read again only when it was changed by another program, which
/// its time of change tells. A change by another program within the same moment as one of the server's can be overlooked, so the
/// folder is also read again in the background, some seconds after the server's own changes, if somebody still asks.
final class FolderNames: DatabaseNameList {
    fileprivate struct State {
        var names: [String] = []
        /// Names of folders without a database file: it is being copied or made, or was left by a crash.
        var unfinished: [String] = []
        /// What the folder was when it was read; `nil` before that, and once another program has changed it.
        var folder: FileStatus?
        /// How many creations and deletions by the server are under way.
        var changes = 0
        /// What the server created and deleted while the folder is being read; `nil` while it is not.
        var meanwhile: [(name: String, isThere: Bool)]?
        /// Since when a change by another program may have been overlooked.
        var doubt: DispatchTime?
        /// Whether the folder is read in the background, or will be.
        var isChecking = false
    }

    private let store: DocumentStore
    private let state = Guarded(State())
    /// One thread reads the folder at a time.
    private let reading = Guarded(())
    /// How many seconds after a change of the server's the folder is read again.
    private static let patience = 10.0

    init(_ store: DocumentStore) { self.store = store }

    /// Keeping the names would have the next change copy them.
    func read<Result: Sendable>(_ body: ([String]) throws -> Result) throws -> Result {
        try refresh()
        return try state.withLock { state in
            state.finish { store.contains($0) }
            return try body(state.names)
        }
    }

    /// Nothing looks at the files of the others.
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
                // Looked up here, for another change of the name may have been faster.
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
                // A folder that can't be read is reported to the next request that reads it.
                try? self?.list(asOf: nil)
            }
        }
        if !isCurrent { try list(asOf: now) }
    }

    /// Reads the folder, unless that was done since a moment.
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

    /// Whether a later change would have another time, for the clock of the file system is coarse.
    private static func isSettled(_ folder: FileStatus?) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return folder.map { Int64(now.tv_sec) > $0.changed.seconds + 1 } ?? false
    }
}

extension FolderNames.State {
    /// Notes whether there is a database.
    fileprivate mutating func set(_ name: String, _ isThere: Bool) {
        meanwhile?.append((name, isThere))
        unfinished.removeAll { $0 == name }
        let index = names.firstIndexInOrder { $0 >= name }
        let isListed = index < names.count && names[index] == name
        if isThere, !isListed { names.insert(name, at: index) }
        if !isThere, isListed { names.remove(at: index) }
    }

    /// Moves names to those of databases once their files are there.
    fileprivate mutating func finish(_ isThere: (String) -> Bool) {
        for name in unfinished where isThere(name) { set(name, true) }
    }
}
