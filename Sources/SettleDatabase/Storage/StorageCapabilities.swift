public import SettleCore

/// An engine whose data other processes may change at any time, so that nothing kept in memory is used before ``refresh()``.
public protocol SharedStorage: StorageEngine {
    /// Gives the closure of ``StorageEngine/onCommit(_:)`` the notices of all commits so far, those of other processes too. See
    /// ``Freshness``.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` or `closed`.
    func refresh() throws

    /// Makes the write of this thread run again if another process changes a design document before it is committed. Called
    /// inside ``StorageEngine/commit(_:)``.
    func requireCurrentDesign() throws
}

/// An engine with leases, by which the processes that share a database divide its jobs.
public protocol LeasingStorage: StorageEngine {
    /// The leases of the database's jobs.
    var leases: any JobLeases { get }

    /// Makes the write of this thread fail as a whole if this node no longer has a lease when the write is committed.
    ///
    /// - Throws: ``DatabaseError`` with code `conflict`, here or at the commit.
    func require(_ lease: JobLease) throws
}

/// An engine that has a place for the contents of large attachments. A database on any other engine has them in files, if it has a
/// folder, and otherwise in rows of the engine like the small ones.
public protocol BlobKeepingStorage: StorageEngine {
    /// Where the contents of large attachments are.
    var blobs: any BlobStorage { get }
}

/// An engine that keeps a journal of local changes: side records of the kind ``SideRecord/journal(_:)``. A database on any other
/// engine has no journal, and no such records.
public protocol JournalStorage: StorageEngine {
    /// Removes all entries of the journal, damaged ones too, in the write of this thread.
    func removeJournal() throws
}

/// An engine that can receive an exact copy of another database, with its positions. Tokens of contents are kept by
/// ``SideRecord/content(_:_:)``.
public protocol RestorableStorage: StorageEngine {
    /// Writes a document with its content under the sequence of the record. Called inside ``StorageEngine/hold(_:)``.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for a sequence that is not above the newest one, `conflict` for a document that is
    ///   there already, and of the storage.
    func restore(_ record: DocumentRecord) throws

    /// Raises the newest sequence; the next change has a higher one. Called inside ``StorageEngine/hold(_:)``.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for one below the newest, and of the storage.
    func restoreSequence(_ sequence: UpdateSequence) throws
}

/// An engine that knows without waiting whether it can read a document, for threads that serve many clients.
public protocol PromptStorage: StorageEngine {
    /// A document with the winner's content as ``StorageReader/storedRecord(of:withContent:)`` returns it, if its parts are short.
    /// The parts of a longer one are not read.
    ///
    /// - Throws: ``NotAtHand`` when no reader is free, or when tree, body and list of attachments together are longer than
    ///   `maximumBytes`.
    func shortRecord(of id: DocumentID, maximumBytes: Int) throws -> DocumentRecord?
}

/// An engine across a network, which fetches documents together that will be asked for one by one.
public protocol PrefetchingStorage: StorageEngine {
    /// Fetches documents for the write or snapshot of this thread.
    func prepare(_ ids: [DocumentID], withContent: Bool) throws
}

/// An engine that can't store ids of any length.
public protocol LimitedStorage: StorageEngine {
    /// The most bytes of an id. A write refuses a longer one with code `invalid`.
    var longestID: Int { get }
}

/// An engine that measures, checks or compacts itself.
public protocol MaintainedStorage: StorageEngine {
    /// Does a task that only the engine can do.
    ///
    /// - Throws: ``DatabaseError`` of the storage; with code `invalid` if space is to be reclaimed inside a write or snapshot.
    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport
}

/// An engine whose files can be closed for other processes and opened again.
public protocol SuspendableStorage: StorageEngine {
    /// Whether it is suspended.
    var isSuspended: Bool { get }

    /// Waits for the calls that run, and closes all files until ``resume()``; later calls throw `suspended`.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` inside a call, and `closed`.
    func suspend() throws

    /// Opens the files again.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another process has them, and `closed`.
    func resume() throws

    /// Runs a closure while the files are open.
    func whileOpen<Result>(_ body: () throws -> Result) throws -> Result
}

// MARK: - StorageCapabilities

/// The capabilities of a database's engine besides the core, found once when the database is opened.
final class StorageCapabilities: Sendable {
    let shared: (any SharedStorage)?
    let leasing: (any LeasingStorage)?
    let blobKeeping: (any BlobKeepingStorage)?
    let journal: (any JournalStorage)?
    let restorable: (any RestorableStorage)?
    let prompt: (any PromptStorage)?
    let prefetching: (any PrefetchingStorage)?
    let limited: (any LimitedStorage)?
    let suspendable: (any SuspendableStorage)?
    private let maintained: (any MaintainedStorage)?

    init(_ engine: any StorageEngine) {
        shared = engine as? any SharedStorage
        leasing = engine as? any LeasingStorage
        blobKeeping = engine as? any BlobKeepingStorage
        journal = engine as? any JournalStorage
        restorable = engine as? any RestorableStorage
        prompt = engine as? any PromptStorage
        prefetching = engine as? any PrefetchingStorage
        limited = engine as? any LimitedStorage
        suspendable = engine as? any SuspendableStorage
        maintained = engine as? any MaintainedStorage
    }

    /// Has the engine do a task. For an engine without tasks the report has no problems and no size, and says that commits are
    /// durable.
    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport {
        if let maintained { return try maintained.maintain(task) }
        var report = MaintenanceReport()
        report.isDurable = true
        return report
    }
}

// MARK: - MaintenanceTask

/// A task that only a storage engine can do.
public enum MaintenanceTask: Sendable, CaseIterable {
    /// Gives unused space back to the system. Other writes wait meanwhile.
    case reclaimSpace
    /// Checks what only the engine can check. Takes time O(*n*) in all that is stored.
    case check
    /// Measures the space on disk, in constant time.
    case measure
    /// Adds up the sizes of bodies and attachments, in time O(*n*) in documents and contents.
    case weigh
}

/// The result of a ``MaintenanceTask``. Values that only other tasks report have their defaults.
public struct MaintenanceReport: Sendable {
    /// After reclaiming: whether all commits are durable on the disk. They are not while a snapshot of an older state is open.
    public var isDurable = false
    /// After a check: a sentence for each problem.
    public var problems: [String] = []
    /// After measuring: the size on disk in bytes, without contents of attachments that are not in their rows.
    public var bytes: Int64 = 0
    /// After measuring: the bytes of that size that are not in use.
    public var freeBytes: Int64 = 0
    /// After weighing: the sizes of bodies and attachments.
    public var payload = StoragePayload()

    /// Creates an empty report.
    public init() {}
}

/// The sizes of the bodies and attachments that a database keeps, in bytes.
public struct StoragePayload: Sendable, Hashable {
    /// The bodies of winners.
    public var winners: Int64
    /// Contents of other revisions, kept apart.
    public var apart: Int64
    /// Contents of attachments, as they are stored.
    public var attachments: Int64
    /// Contents of attachments that are not in their rows.
    public var attachmentFiles: Int64

    /// Makes figures.
    public init(winners: Int64 = 0, apart: Int64 = 0, attachments: Int64 = 0, attachmentFiles: Int64 = 0) {
        (self.winners, self.apart, self.attachments, self.attachmentFiles) = (
            winners, apart, attachments, attachmentFiles
        )
    }
}
