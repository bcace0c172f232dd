internal import Dispatch
internal import SettlePlatform

/// The way in which several processes take turns with one database.
///
///     var options = DatabaseOptions()
///     options.sharing = ProcessSharing()
///     let database = try Database.open(path, options: options)      // in the app and in its widget
///
/// A process takes its turn at a call. It keeps the turn for some hundredths of a second, or as long as no other
/// process calls. Then it closes the files, and the next process opens them. So calls in each process work as in a
/// database of its own, but may have to wait for other processes. Observers and live queries notice writes of
/// another process within about a tenth of a second. A process that is not using the database holds no lock, which
/// iOS requires of apps that it suspends. If the folder of the database is deleted, calls throw ``DatabaseErrorCode/closed`` within
/// about a tenth of a second.
///
/// A transaction or snapshot must not wait for calls of another thread, because these may wait for the next turn.
///
/// All processes must open the database with sharing: a process that opens it without has it exclusively.
public struct ProcessSharing: Sendable {
    /// The time that a call waits for another process before it throws ``DatabaseErrorCode/inUse``; 10 seconds by default.
    public var patience: Duration = .seconds(10)

    /// Creates the defaults.
    public init() {}

    /// The time until which a call that begins now waits.
    var deadline: ContinuousClock.Instant { .now + patience.bounded }

    /// The time for which a process keeps its turn even if another one waits.
    static let turn: Duration = .milliseconds(30)
    /// The time for which a process keeps its turn without using it.
    static let idle: Duration = .milliseconds(100)
    /// The interval at which a process checks whether another one waits.
    static let lookWhenOpen: DispatchTimeInterval = .milliseconds(20)
    /// The interval at which a process checks whether another one has written.
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
    /// The interval at which a waiting process tries to take the turn, in microseconds.
    private static let pause: UInt32 = 2000

    private var wanted: String { files.lock + ".wanted" }

    /// Creates a turn from a lock that is held.
    init(_ files: DatabaseFiles, _ lock: DatabaseLock) {
        self.files = files
        self.lock = Guarded(lock)
    }

    /// Acquires the turn, and notifies the process that has it.
    ///
    /// - Parameters:
    ///   - files: The database's files.
    ///   - deadline: The time until which to wait for another process.
    ///   - interruption: Returns an error if waiting has become useless.
    /// - Returns: The lock.
    /// - Throws: ``DatabaseError`` with code `inUse` if another process keeps the turn longer.
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
            // This can fail for a moment, while the process that has the turn checks the file.
            if wish == nil { wish = try FileLock(path: files.lock + ".wanted", isShared: true) }
            usleep(pause)
        }
    }

    /// Takes the turn again.
    func acquire(until deadline: ContinuousClock.Instant, unless interruption: () -> (any Error)?) throws {
        guard FileStatus(path: files.folder) != nil else { throw DatabaseError(.closed, "the database was deleted") }
        // Waiting processes come first; they try every few milliseconds.
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

    /// Whether the database was deleted, and maybe made anew, while this process has its turn.
    var isGone: Bool { lock.withLock { $0?.isGone ?? false } }

    /// Releases the turn.
    func release() {
        lock.withLock { lock in
            lock?.release()
            lock = nil
        }
    }

    /// The sizes and times of the files, which show whether another process has written since.
    var state: [FileStatus?] { ["", "-wal"].map { FileStatus(path: files.database + $0) } }
}
