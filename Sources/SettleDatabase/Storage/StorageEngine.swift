/// Where a database keeps its documents.
///
/// An engine speaks of documents, sequences and transactions. All that is above it, the rules of revisions included, is
/// the same for every engine; `SettleTesting` has the suite an engine must pass.
///
/// What an engine promises:
///
/// - A write is all or nothing, and has happened when ``write(_:)`` returns.
/// - Writes happen one after the other. Those waiting at the same time may share one commit; none sees another's fail.
/// - A snapshot sees one state of the database from beginning to end; neither it nor a read waits for a write if
///   ``readsInParallel``.
public protocol StorageEngine: Sendable {
    /// Whether reads go on while a write does.
    var readsInParallel: Bool { get }

    /// Whether this thread is inside a ``write(_:)``, and so sees what is not committed.
    var isWriting: Bool { get }

    /// Runs a closure that asks one question; two questions may see two states.
    ///
    /// Within a ``write(_:)`` on the same thread, the state is that of the write so far.
    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

    /// Runs a closure like ``read(_:)`` if that needs no waiting, for threads that serve many clients.
    ///
    /// An engine that never knows leaves it as it is.
    ///
    /// - Throws: ``NotAtHand`` when no reader is free, and what the closure throws.
    func readIfFree<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

    /// Runs a closure all of whose questions see one state of the database.
    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

    /// Runs a closure whose writes happen together or, when it throws, not at all.
    ///
    /// Within another write on the same thread it shares that one's fate: when it throws after it has changed something,
    /// the whole write fails, even if the closure around it goes on.
    func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result

    /// Runs a closure like ``write(_:)``; within another write it is a part that can fail alone.
    func writeSeparately<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result

    /// Runs a closure like ``write(_:)``, on this thread or on that of another write it shares a commit with.
    ///
    /// Writers that wait at the same time need not be woken one after the other then. An engine that has no use for that
    /// leaves it as it is.
    func writeByAnyThread<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Result
    ) throws -> Result

    /// Sets what is to be called after each commit with the newest sequence; called in the order of commits.
    func onCommit(_ notify: @escaping @Sendable (UpdateSequence) -> Void)

    /// Does a task that only the engine can do.
    ///
    /// - Throws: ``DatabaseError`` of the storage; with code `invalid` if space is to be reclaimed inside a write or snapshot.
    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport

    /// Ends all use; later calls throw `closed`.
    func close()
}

extension StorageEngine {
    /// Runs a closure like ``write(_:)``, on this thread.
    public func writeByAnyThread<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Result
    ) throws -> Result {
        try write(body)
    }
}
