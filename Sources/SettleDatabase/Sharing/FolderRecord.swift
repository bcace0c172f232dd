internal import SettlePlatform

/// The settings of the server of a folder: a file in the folder that only its owner may read, and the folder's
/// lock.
final class FolderRecord: ServerRecord {
    private let path: String
    private let lock: FolderLock

    init(_ folder: String) {
        path = folder + "/server.json"
        lock = FolderLock(folder)
    }

    var place: String { "the settings file \(path)" }

    /// Always `nil`: the lock keeps other servers from writing.
    var newestVersion: Int64? { nil }

    func reserve() throws { try lock.reserve() }

    func release() { lock.release() }

    /// Reads the file. If other users may read it, its permissions are restricted.
    func read() throws -> (bytes: [UInt8], version: Int64)? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw failure("can't read") }
            return nil
        }
        defer { close(file) }
        guard fchmod(file, 0o600) == 0 else { throw failure("can't close to others") }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = systemRead(file, &piece, piece.count)
            guard count >= 0 else { throw failure("can't read") }
            if count == 0 { return (bytes, 0) }
            bytes += piece.prefix(count)
        }
    }

    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64? {
        // If the file is a symbolic link, its target is replaced and the link stays.
        guard case .file(let whole) = FileTarget(path) else {
            throw DatabaseError(.inputOutput, "can't replace \(place): it is not a regular file")
        }
        let temporary = whole + ".new"
        // A process that was killed may have left one that others can read.
        try removeIfThere(temporary)
        do {
            let file = try FileHandleWriter(path: temporary)
            try bytes.withUnsafeBytes { try file.write($0) }
            try file.synchronize()
            try renameDurably(temporary, to: whole)
        } catch {
            unlink(temporary)
            throw error
        }
        return 0
    }

    private func failure(_ what: String) -> DatabaseError {
        DatabaseError(.inputOutput, "\(what) \(place): \(String(cString: strerror(errno)))")
    }
}

private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, buffer, count)
}

// MARK: - FolderLock

/// The lock that gives a folder of databases to one server. It is taken before anything in the folder is read or
/// written.
///
/// A server may be killed while it starts a process for scripts. That process shares the lock until it executes its own
/// program, so the next server waits for it.
final class FolderLock: Sendable {
    private let folder: String
    private let lock = Guarded<FileLock?>(nil)
    /// The time to wait for a lock whose server has ended.
    private static let patience: Duration = .seconds(30)
    /// The interval at which it is tried again, in microseconds.
    private static let pause: UInt32 = 2000

    init(_ folder: String) { self.folder = folder }

    /// Takes the lock, unless this object already has it. It waits up to 30 seconds for the lock of a server that has
    /// ended.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another server has it, or `inputOutput`.
    func reserve() throws {
        try lock.withLock { lock in
            guard lock == nil else { return }
            let path = folder + "/server.lock"
            let deadline = ContinuousClock.now + Self.patience
            while true {
                if let taken = try FileLock(path: path) {
                    taken.writeLine("\(getpid())")
                    lock = taken
                    return
                }
                let owner = Self.owner(path)
                let hasEnded = owner.map { !ChildProcess.isRunning($0) } ?? false
                guard hasEnded, ContinuousClock.now < deadline else {
                    throw Self.inUse(folder, by: hasEnded ? nil : owner)
                }
                usleep(Self.pause)
            }
        }
    }

    /// Releases the lock, so that another server can take it.
    func release() {
        lock.withLock { lock in
            lock?.release()
            lock = nil
        }
    }

    private static func inUse(_ folder: String, by owner: pid_t?) -> DatabaseError {
        DatabaseError(
            .inUse,
            """
            another server\(owner.map { ", process \($0)," } ?? "") serves the folder \(folder) already; stop that one first, \
            or serve another folder
            """)
    }

    /// The process that has written its id into the lock file.
    private static func owner(_ path: String) -> pid_t? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = read(file, &bytes, bytes.count)
        let digits = bytes.prefix(max(count, 0)).prefix { (0x30...0x39).contains($0) }
        return pid_t(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }
}
