/// Where a database keeps its documents.
///
/// An engine speaks of documents, records beside them, and transactions. All that is above it, the rules of revisions included,
/// is the same for every engine; `SettleTesting` has the suite an engine must pass. This protocol, ``StorageReader`` and
/// ``StorageWriter`` are the core that every engine has. What only some can do is a protocol of its own that the engine
/// conforms to, such as ``SharedStorage`` or ``JournalStorage``; a database looks for these once, when it is opened.
///
/// What an engine promises:
///
/// - A write is all or nothing, and has happened when ``commit(_:)`` or ``hold(_:)`` returns.
/// - Writes happen one after the other. Those waiting at the same time may share one commit; none sees another's fail.
/// - When that commit fails, each of them throws.
/// - A call on the engine inside a write of the same thread is a part of that write.
/// - A snapshot sees one state of the database from beginning to end.
public protocol StorageEngine: Sendable {
    /// Whether this thread is inside a write, and so sees what is not committed.
    var isWriting: Bool { get }

    /// Runs a closure that asks one question; two questions may see two states.
    ///
    /// Within a write on the same thread, the state is that of the write so far.
    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

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

    /// Sets the closure that is called after each commit, before its writer continues, and in the order of commits.
    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void)

    /// Ends all use; later calls throw `closed`.
    func close()
}

// MARK: - CommitNotice

/// A notice of commits that became visible, those of this process or of another one.
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
