internal import Dispatch
internal import SettleCore
internal import SettlePlatform
internal import Synchronization

private enum Identities {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

/// A database of JSON documents, each with the tree of its revisions.
///
///     let database = try Database.open("notes.settle")
///     let saved = try database.save(Document(id: "n1", body: ["text": "Hello"]), onConflict: .fail)
///     try database.document("n1")?["text"]?.string        // "Hello"
///
/// Calls are synchronous: reading a document takes microseconds. Saving one takes tens of microseconds, or a few
/// hundred with ``Durability/full``, which waits for the disk (docs/PERFORMANCE.md has the figures). Calls that can
/// take long (queries, many documents, compaction) also have `async` forms, which run off the caller's thread and
/// end when the task is cancelled; ``perform(_:)-((Database)->Result)`` runs any other calls there, to their end.
/// Any number of threads may call at once: writes take turns and share commits; reads see the state of the last
/// commit and never wait for a write.
///
/// A database belongs to one process at a time. Opening the same folder again in that process returns the open object;
/// another process gets ``DatabaseErrorCode/inUse``, unless both share it (``DatabaseOptions/sharing``). ``suspend()`` leaves
/// the files to other processes for a while.
///
/// ## Topics
/// ### Opening
/// - ``open(_:options:)``
/// - ``create(_:options:)``
/// - ``inMemory(options:)``
/// ### Several processes
/// - ``DatabaseOptions/sharing``
/// - ``suspend()``
/// - ``resume()``
/// ### Documents
/// - ``document(_:)``
/// - ``save(_:onConflict:)-(Document,_)``
/// - ``delete(_:keeping:adding:onConflict:)``
/// - ``transaction(_:)``
/// ### Attribute clocks
/// - ``attributeClocks()``
/// - ``setAttributeClocks(_:)``
/// ### Local changes
/// - ``journal``
/// - ``setJournal(_:)``
/// ### Following changes
/// - ``changes(since:limit:descending:style:includingDocuments:where:)``
/// - ``observe(since:style:includingDocuments:where:)``
public final class Database: Sendable {
    /// The database's folder, or `nil` in memory.
    public let path: String?
    let files: DatabaseFiles?
    /// A number unique among the database objects of this process. Documents carry it, so that a document of
    /// another database is detected.
    let identity = Identities.next()
    let engine: any StorageEngine
    let capabilities: StorageCapabilities
    let blobs: BlobStore
    let options: DatabaseOptions
    let validations = ValidationList()
    /// Signals the sequence of each commit.
    let changeBell = Bell()
    /// Signals changes of documents by this process alone; the same as ``changeBell`` if no other process shares
    /// the database.
    let ownChangeBell: Bell
    let settlings = SettlingPolicies()
    let expirations = ExpirationTimer()
    /// Objects that higher layers attach to the database; see ``companion(_:_:)``.
    let companions = Guarded<[ObjectIdentifier: any AnyObject & Sendable]>([:])
    let settingsChanges = SettingsChanges()
    /// The clock that stamps changes, if stamping is switched on.
    let clocks: DeviceClock
    /// The pending changes; `nil` without a journal. The journal can be switched on or off while the database is
    /// open.
    let pendingState: Guarded<PendingCache?>
    /// The pending changes; `nil` without a journal.
    var pendingCache: PendingCache? { pendingState.withLock(\.self) }
    let designChanges = DesignChanges()
    let damages = DamageNotes()
    let sizeCount = Guarded<SizeCount?>(nil)
    let newest: Guarded<Commit>
    private let turn: ProcessTurn?

    init(engine: any StorageEngine, files: DatabaseFiles?, turn: ProcessTurn?, options: DatabaseOptions) throws {
        self.engine = engine
        let capabilities = StorageCapabilities(engine)
        self.capabilities = capabilities
        self.turn = turn
        self.options = options
        self.files = files
        path = files?.folder
        blobs = BlobStore(capabilities.blobKeeping?.blobs, files: files, isShared: options.sharing != nil)
        clocks = try DeviceClock(isOn: options.attributeClocks, now: options.milliseconds, engine: engine)
        pendingState = Guarded(try Self.openJournal(options.journal, engine, capabilities.journal))
        newest = Guarded(Commit(sequence: try engine.read { try $0.lastSequence }))
        ownChangeBell = capabilities.shared != nil ? Bell() : changeBell
        let (changeBell, ownChangeBell, designChanges) = (changeBell, ownChangeBell, designChanges)
        let (newest, settingsChanges) = (newest, settingsChanges)
        engine.onCommit { notice in
            if notice.changesDesign { designChanges.markPending() }
            designChanges.commit()
            if notice.changesSettings { settingsChanges.markChanged() }
            newest.withLock { $0.follow(notice.sequence) }
            changeBell.ring(at: notice.sequence.number)
            guard ownChangeBell !== changeBell, !notice.isForeign, notice.changesDocuments else { return }
            ownChangeBell.ring(at: notice.sequence.number)
        }
        try scheduleExpiration()
    }

    /// Runs a closure as a transaction. Its writes are committed together; if it throws, none of them is.
    ///
    ///     try database.transaction {
    ///         try database.save(order, onConflict: .fail)
    ///         try database.save(stock, onConflict: .fail)
    ///     }
    ///
    /// Calls on this database in the closure, including reads, are part of the transaction. A nested transaction can fail
    /// alone. Other writers wait until the closure returns, so it should not wait for anything itself.
    ///
    /// - Throws: Errors of the closure, or ``DatabaseError`` if the commit fails.
    @discardableResult
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(under: nil, body)
    }

    /// Runs a closure whose reads all see the same state of the database, regardless of concurrent writes.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try engine.snapshot { _ in try body() }
    }

    /// Runs a closure off the caller's thread, such as the main thread.
    ///
    ///     let count = try await database.perform { try $0.info().documents.live }
    ///
    /// The closure runs to its end, and this call waits for it, even if the task is cancelled.
    ///
    /// - Throws: Errors of the closure.
    @discardableResult
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Swift.Result { try body(self) })
            }
        }
    }

    /// Runs a closure off the caller's thread. The closure checks from time to time whether the task was cancelled.
    ///
    /// - Throws: `CancellationError`, or errors of the closure.
    package func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Database, Cancellation) throws -> Result
    ) async throws -> Result {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await perform { try body($0, cancellation) }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Closes the database for every holder of this object; later calls throw ``DatabaseErrorCode/closed``.
    ///
    /// Acknowledged writes stay, and a transaction that calls this is still committed. Observations end. A database that is no
    /// longer referenced closes automatically.
    public func close() {
        let isKept = DatabaseRegistry.shared.letGo(self)
        expirations.cancel()
        changeBell.end()
        ownChangeBell.end()
        pendingCache?.bell.end()
        engine.close()
        // They may reference the database, and releasing them may take other locks.
        let ended = companions.withLock { companions in
            defer { companions = [:] }
            return companions
        }
        withExtendedLifetime(ended) {}
        turn?.release()
        if isKept { DatabaseRegistry.shared.forget(self) }
    }

    deinit {
        expirations.cancel()
        engine.close()
        turn?.release()
        if let path { DatabaseRegistry.shared.forgetReleased(ObjectIdentifier(self), path) }
    }

    /// Calls a closure with an editor of documents.
    func edit<Result>(_ body: (DocumentEditor) throws -> Result) throws -> Result {
        try log.measure(.write, logMetadata) { try engine.hold { try edit(with: $0, body) } }
    }

    /// Runs a closure with an editor of documents and commits. It runs on this thread or on that of another writer.
    func commit<Result: Sendable>(_ body: @escaping @Sendable (DocumentEditor) throws -> Result) throws -> Result {
        try log.measure(.write, logMetadata) { try engine.commit { [self] in try edit(with: $0, body) } }
    }

    private func edit<Result>(
        with writer: any StorageWriter, _ body: (DocumentEditor) throws -> Result
    ) throws -> Result {
        let pending = pendingCache
        return try body(
            DocumentEditor(
                writer: writer, database: self, clocks: clocks, journal: pending.map(journalRecorder(of:)),
                journalCache: pending))
    }
}

// MARK: - Companions

extension Database {
    /// An object that higher layers attach to the database, such as its replications. It is created at the first call and exists
    /// while the database is open.
    package func companion<Companion: AnyObject & Sendable>(
        _ type: Companion.Type, _ make: () -> Companion
    ) -> Companion {
        companions.withLock { companions in
            if let companion = companions[ObjectIdentifier(type)] as? Companion { return companion }
            let companion = make()
            companions[ObjectIdentifier(type)] = companion
            return companion
        }
    }

    /// The attached object of a type, if ``companion(_:_:)`` has made one.
    package func known<Companion: AnyObject & Sendable>(_ type: Companion.Type) -> Companion? {
        companions.withLock { $0[ObjectIdentifier(type)] as? Companion }
    }

    /// The number of indexes that may have their files open; see ``DatabaseOptions/openIndexes``.
    package var openIndexes: Int { options.openIndexes }

    /// The folder for indexes if the database does not have a folder; see ``DatabaseOptions/indexFolder``.
    package var indexFolder: String? { options.indexFolder }

    /// The log of the database; see ``DatabaseOptions/log``.
    package var log: SettleLog { options.log }

    /// The metadata of this database in log entries.
    package var logMetadata: [String: String] {
        files.map { ["database": $0.name] } ?? [:]
    }

    /// Reports a problem that is not fatal.
    package func warn(_ message: @autoclosure () -> String, in subsystem: SettleLog.Subsystem = .database) {
        log(.warning, subsystem, message(), logMetadata)
    }
}

// MARK: - Patience

extension Database {
    /// Waits a tenth of a second if the failed call will work later: the database is suspended, or another process
    /// keeps its turn.
    ///
    /// - Parameter error: The error of the call.
    /// - Returns: Whether to try again; `false` if the database was closed or the task was cancelled.
    /// - Throws: The error, if it is permanent.
    package func waitsOut(_ error: DatabaseError) async throws -> Bool {
        if error.code == .closed { return false }
        guard error.isPassing else { throw error }
        try? await Task.sleep(for: .milliseconds(100))
        return !Task.isCancelled
    }

    /// Calls a closure, and again as long as ``waitsOut(_:)`` says that it will work later.
    ///
    /// - Throws: Errors of the closure, or `CancellationError` if the task was cancelled while it waited.
    func patiently<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        while true {
            do { return try await body() } catch let error as DatabaseError {
                guard try await waitsOut(error) else {
                    try Task.checkCancellation()
                    throw error
                }
            }
        }
    }
}

// MARK: - FileHolder

/// An object attached to a database that keeps files open, such as indexes.
package protocol FileHolder: AnyObject, Sendable {
    /// Closes the files until their next use. It is never called while another call uses them.
    func closeFiles()
}

// MARK: - Cancellation

/// Tells another thread whether the task that it works for was cancelled.
package final class Cancellation: Sendable {
    private let isCancelled = Atomic<Bool>(false)

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` if the task was cancelled.
    package func check() throws {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}
