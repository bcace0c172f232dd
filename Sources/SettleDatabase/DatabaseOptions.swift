#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The options of a database.
///
/// They apply when a process opens a database; opening it again in the same process shares the open object with its
/// options.
public struct DatabaseOptions: Sendable {
    /// The leaf of a document in conflict that an app reads and edits.
    public enum Reads: Sendable, Hashable {
        /// The winner, which every replica picks, as in CouchDB.
        case winner
        /// The local leaf, as in Couchbase Lite: ``Conflict/local``, the highest leaf that did not arrive beside an existing one.
        ///
        /// While a conflict that a pull brought waits, ``Database/document(_:)``, `observe(_:)` of an id and
        /// ``Database/update(_:_:)`` show the content that the device had, a local deletion as `nil`, and saves and deletions continue
        /// that leaf (SEMANTICS 28). They show the winner again once the conflict is settled. Deleting the local leaf of two live
        /// ones settles it, too: the other leaf is left (SEMANTICS 201).
        ///
        /// The rule applies to single documents of this process. The winner itself stays the same: indexes, queries, lists of
        /// documents, changes, the journal, the server and other devices show the winner.
        case local
    }

    /// The durability of acknowledged writes; ``Durability/normal`` by default.
    public var durability: Durability = .normal
    /// The page cache of the writing connection, in bytes; 16 MiB by default. Each reader may use a quarter of it in addition,
    /// but at least 2 MiB unless this is less.
    public var cacheBytes = 16 * 1024 * 1024
    /// The number of threads that may read concurrently; 4 by default.
    public var readers = 4
    /// The number of indexes of views and queries that may have their files open; 16 by default. Each takes up to
    /// three descriptors for writing and two for each of up to four readers. To open another index, the least
    /// recently used one is closed; it is opened again when needed.
    public var openIndexes = 16
    /// The folder for the indexes of a database without a folder, whose storage engine keeps its data elsewhere.
    /// With `nil`, the default, indexes are in a temporary folder that is removed with the object.
    ///
    /// The folder belongs to one database. Indexes stay there when the database closes, and the next opening
    /// updates them; they may be removed while the database is not open. If another process or another object uses
    /// the folder, a temporary one is used, with a warning.
    public var indexFolder: String?
    /// The maximum size of a document's body, in bytes; 8,000,000 by default, as in CouchDB.
    public var maximumDocumentSize = 8_000_000
    /// Whether each save stamps the members that it changes; see ``Database/setAttributeClocks(_:)``. The setting is stored in
    /// the database; `nil`, the default, leaves it unchanged: off for a new database.
    public var attributeClocks: Bool?
    /// Whether local operations are recorded in a ``Journal`` until a peer has acknowledged them. The setting is stored in the
    /// database; `nil`, the default, leaves it unchanged: off for a new database. Switching it off deletes the journal.
    public var journal: Bool?
    /// The leaf of a document in conflict that is read and edited; ``Reads/winner`` by default.
    public var reads = Reads.winner
    /// How several processes take turns with the database; `nil`, the default, gives it to one process, which is
    /// faster.
    public var sharing: ProcessSharing?
    /// The current time; by default the system's.
    public var now: @Sendable () -> Date = { Date() }
    /// The current time in milliseconds since 1970.
    var milliseconds: @Sendable () -> Int64 { { [now] in now().milliseconds } }
    /// The log that the database and its queries and replications report to; warnings and errors go to standard error by
    /// default.
    public var log = SettleLog.standardError
    /// The warnings of ``log`` as texts. Setting it replaces the log with one of warnings and errors.
    public var warn: @Sendable (String) -> Void {
        get { { [log] in log(.warning, .database, $0) } }
        set { log = SettleLog { newValue($0.message) } }
    }

    /// Called with the database each time it is opened, before other callers get it; does nothing by default.
    ///
    /// Use it for settings that the database does not store, such as validations (SEMANTICS 125): a server opens and closes the
    /// databases of its ``DocumentStore`` as needed, and this adds them each time. It must not open a database. If it throws, opening fails.
    public var whenOpened: @Sendable (Database) throws -> Void = { _ in }

    /// Whether a short write-ahead log stays unchanged when the database closes; `false` by default.
    package var leavesShortLogs = false

    /// Creates options with the defaults.
    public init() {}
}

// MARK: - Durability

/// The failures that an acknowledged write survives.
public enum Durability: String, Sendable, CaseIterable {
    /// Every commit is forced to the disk before it is acknowledged: it survives a crash of the program, of the system,
    /// and a loss of power. The choice for a server.
    case full
    /// The log is forced to the disk at checkpoints only: a write survives a crash of the program, `kill -9`
    /// included. A crash of the system or a loss of power may undo the last transactions, newest first, and never
    /// damages the file. The default of an embedded database.
    case normal
}
