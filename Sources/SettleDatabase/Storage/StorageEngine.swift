/// Where a database keeps its documents.
///
/// An engine speaks of documents, sequences and transactions. All that is above it, the rules of revisions included, is
/// the same for every engine; `SettleTesting` has the suite an engine must pass.
///
/// What an engine promises:
///
/// - A write is all or nothing, and has happened when ``commit(_:)`` or ``hold(_:)`` returns.
/// - Writes happen one after the other. Those waiting at the same time may share one commit; none sees another's fail.
/// - When that commit fails, each of them throws.
/// - A snapshot sees one state of the database from beginning to end; neither it nor a read waits for a write if
///   ``readsInParallel``.
public protocol StorageEngine: Sendable {
    /// Whether reads go on while a write does.
    var readsInParallel: Bool { get }

    /// Whether other processes may write at any time, so that nothing kept in memory is used without ``refresh()``; false unless
    /// an engine says otherwise.
    var isShared: Bool { get }

    /// Whether the engine can keep a journal of local changes; true unless an engine says otherwise.
    var keepsJournal: Bool { get }

    /// Sees that notices of all commits so far have been given to the closure of ``onCommit(_:)``, those of other processes too;
    /// does nothing where there are no others. See ``Freshness``.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` or `closed`.
    func refresh() throws

    /// The leases of the database's jobs; `nil`, which is the default, where one process has the database.
    var leases: (any JobLeases)? { get }

    /// Where the contents of large attachments are; `nil`, which is the default, for the database's own place: files beside it, or
    /// rows in memory.
    var blobs: (any BlobStorage)? { get }

    /// How many bytes an id may have at most; `nil`, which is the default, for no limit. A longer one is refused by a write, with
    /// code `invalid`.
    var longestID: Int? { get }

    /// Whether this thread is inside a write, and so sees what is not committed.
    var isWriting: Bool { get }

    /// Runs a closure that asks one question; two questions may see two states.
    ///
    /// Within a write on the same thread, the state is that of the write so far.
    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

    /// Runs a closure like ``read(_:)`` if that needs no waiting, for threads that serve many clients.
    ///
    /// An engine that never knows leaves it as it is.
    ///
    /// - Throws: ``NotAtHand`` when no reader is free, and what the closure throws.
    func readIfFree<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

    /// Runs a closure all of whose questions see one state of the database.
    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

    /// Runs a closure whose changes are committed together or, if it throws, not at all; shares the commit with other writers.
    ///
    /// The closure runs on this thread or on that of another writer. It runs again when a commit of another process has changed
    /// what it read; then nothing of the earlier run is committed, and only the last run returns. A write inside it, or inside ``hold(_:)``, is a
    /// part of the outer one: if it throws after it changed something, the outer write fails as a whole, even if the closure
    /// around it continues. ``StorageWriter/part(_:)`` makes a part that fails alone.
    ///
    /// - Throws: What the closure throws, or ``DatabaseError`` if its changes were not committed.
    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result

    /// Runs a closure like ``commit(_:)``, once, on this thread; other writers wait while it runs.
    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result

    /// Sets what is to be called after each commit, before its writer continues; called in the order of commits.
    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void)

    /// Does a task that only the engine can do.
    ///
    /// - Throws: ``DatabaseError`` of the storage; with code `invalid` if space is to be reclaimed inside a write or snapshot.
    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport

    /// Ends all use; later calls throw `closed`.
    func close()
}

extension StorageEngine {
    /// No other process writes.
    public var isShared: Bool { false }

    /// There is room for a journal.
    public var keepsJournal: Bool { true }

    /// There is nothing to find out.
    public func refresh() throws {}

    /// One process has the database, so its jobs need no leases.
    public var leases: (any JobLeases)? { nil }

    /// Ids have any length.
    public var longestID: Int? { nil }

    /// The database keeps them itself.
    public var blobs: (any BlobStorage)? { nil }

    /// Throws ``NotAtHand``.
    public func readIfFree<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { throw NotAtHand() }
}

// MARK: - MaintenanceTask

/// A task that only a storage engine can do.
public enum MaintenanceTask: Sendable, CaseIterable {
    /// Gives unused space back to the system, while nothing else is written.
    case reclaimSpace
    /// Checks what only the engine can check. Takes time O(*n*) in all that is stored.
    case check
    /// Measures the space on disk, in constant time.
    case measure
    /// Adds up what apps gave, in time O(*n*) in documents and contents.
    case weigh
}

/// The result of a ``MaintenanceTask``; what another task would report has its default.
public struct MaintenanceReport: Sendable {
    /// Of reclaiming: whether everything that was committed is now on the disk for good; not while someone still reads an older
    /// state.
    public var isDurable = false
    /// Of a check: what is wrong, in words.
    public var problems: [String] = []
    /// Of measuring: the size of what is kept on disk, in bytes, without contents of attachments that are not in their rows.
    public var bytes: Int64 = 0
    /// Of measuring: how much of that is not in use, in bytes.
    public var freeBytes: Int64 = 0
    /// Of weighing: how much of what apps gave is kept.
    public var payload = StoragePayload()

    /// Creates an empty report.
    public init() {}
}

/// How much of what apps gave to a database is kept, in bytes.
public struct StoragePayload: Sendable, Hashable {
    /// The bodies of winners.
    public var winners: Int64
    /// Contents of other revisions, kept apart.
    public var apart: Int64
    /// Contents of attachments, as they are stored.
    public var attachments: Int64
    /// Those of them that are not in their rows.
    public var attachmentFiles: Int64

    /// Makes figures.
    public init(winners: Int64 = 0, apart: Int64 = 0, attachments: Int64 = 0, attachmentFiles: Int64 = 0) {
        (self.winners, self.apart, self.attachments, self.attachmentFiles) = (
            winners, apart, attachments, attachmentFiles
        )
    }
}

// MARK: - CommitNotice

/// What a storage engine says about commits that became visible, its own or those of another process.
public struct CommitNotice: Sendable, Hashable {
    /// The position of the newest change.
    public var sequence: UpdateSequence
    /// Whether a design document may have changed that this process did not write.
    public var changesDesign: Bool
    /// Whether a setting may have changed that this process did not set.
    public var changesSettings: Bool
    /// Whether all these commits are of other processes.
    public var isForeign: Bool
    /// Whether a document may have been changed or removed; false for commits of settings and other side records alone.
    public var changesDocuments: Bool

    /// Creates a notice.
    public init(
        sequence: UpdateSequence, changesDesign: Bool = false, changesSettings: Bool = false, isForeign: Bool = false,
        changesDocuments: Bool = true
    ) {
        (self.sequence, self.isForeign) = (sequence, isForeign)
        (self.changesDesign, self.changesSettings) = (changesDesign, changesSettings)
        self.changesDocuments = changesDocuments
    }
}
