internal import Dispatch
internal import SettlePlatform

/// How several processes use one database: by turns.
///
///     var options = DatabaseOptions()
///     options.sharing = ProcessSharing()
///     let database = try Database.open(path, options: options)      // in the app and in its widget
///
/// A process takes its turn at a call and keeps it for some hundredths of a second, or as long as nobody else calls. Then it
/// closes the files, and the next process opens them. So in each process calls work as in a database of its own, and wait
/// for other processes if need be. What another process writes is noticed within about a tenth of a second by observers and
/// live queries. A process that is not using the database holds no lock, as iOS demands of apps that it suspends.
///
/// A transaction or snapshot must not wait for another thread's calls, as these may wait for the next turn.
///
/// All processes must open the database so: one that opens it without sharing has it alone.
public struct ProcessSharing: Sendable {
    /// The time that a call waits for another process before it throws ``DatabaseErrorCode/inUse``; 10 seconds by default.
    public var patience: Duration = .seconds(10)

    /// Creates the defaults.
    public init() {}

    /// Until when a call that begins now waits.
    var deadline: ContinuousClock.Instant { .now + patience }

    /// The time that a process keeps its turn though another one waits.
    static let turn: Duration = .milliseconds(30)
    /// The time that a process keeps its turn without using it.
    static let idle: Duration = .milliseconds(100)
    /// The interval at which a process looks whether another one waits.
    static let lookWhenOpen: DispatchTimeInterval = .milliseconds(20)
    /// The interval at which a process looks whether another one has written.
    static let lookWhenAway: DispatchTimeInterval = .milliseconds(100)
}

// MARK: - ProcessTurn

/// The turn of this process to use the files of a database.
///
///     lock          locked by the process whose turn it is
///     lock.wanted   locked, shared, by those that wait for it
final class ProcessTurn: Sendable {
    private let files: DatabaseFiles
    private let lock: Guarded<DatabaseLock?>
    /// The interval at which a process that waits tries to take the turn, in microseconds.
    private static let pause: UInt32 = 2000

    private var wanted: String { files.lock + ".wanted" }

    /// Takes over a lock that is held.
    init(_ files: DatabaseFiles, _ lock: DatabaseLock) {
        self.files = files
        self.lock = Guarded(lock)
    }

    /// Acquires the turn, and notifies the process that has it.
    ///
    /// - Parameters:
    ///   - files: The database's files.
    ///   - deadline: How long to wait for another process.
    ///   - interruption: Returns an error once waiting is useless.
    /// - Returns: The lock.
    /// - Throws: ``DatabaseError`` with code `inUse` if another process keeps it longer.
    static func acquire(
        _ files: DatabaseFiles, until deadline: ContinuousClock.Instant,
        unless interruption: () -> (any Error)? = { nil }
    ) throws -> DatabaseLock {
        var wish: FileLock?
        defer { wish?.release() }
        while true {
            do { return try DatabaseLock(files) } catch let error as DatabaseError where error.code == .inUse {
                guard ContinuousClock.now < deadline else { throw error }
            }
            if let interruption = interruption() { throw interruption }
            // The process whose turn it is may be looking at it.
            if wish == nil { wish = try FileLock(path: files.lock + ".wanted", isShared: true) }
            usleep(pause)
        }
    }

    /// Takes the turn again.
    func acquire(until deadline: ContinuousClock.Instant, unless interruption: () -> (any Error)?) throws {
        guard FileStatus(path: files.folder) != nil else { throw DatabaseError(.closed, "the database was deleted") }
        // Those who wait come first; they try every few milliseconds.
        if deadline > .now, isWanted { usleep(3 * Self.pause) }
        let taken = try Self.acquire(files, until: deadline, unless: interruption)
        lock.withLock { $0 = taken }
    }

    /// Whether another process waits for the turn.
    var isWanted: Bool {
        guard FileStatus(path: wanted) != nil else { return false }
        guard let unwanted = try? FileLock(path: wanted) else { return true }
        unwanted.release()
        return false
    }

    /// Gives the turn away.
    func release() {
        lock.withLock { lock in
            lock?.release()
            lock = nil
        }
    }

    /// The sizes and times of the files, which show whether another process has written since.
    var state: [FileStatus?] { ["", "-wal"].map { FileStatus(path: files.database + $0) } }
}
