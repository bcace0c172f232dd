/// A store of named databases for a server: a folder of one server, or a database server that many servers share.
///
/// A ``DocumentStore`` is the folder, and a `PostgresStore` is shared; a server accepts only these. A shared store
/// gives the same answers on every node: data that a node caches is valid for one request only. A request begins
/// with `freshen(_:)` inside ``Freshness/answering(_:)``.
///
///     node A   PUT /notes/_security ───── commit
///     node B                                       freshen(["notes", "_users"]) ─→ what A wrote counts here
///
/// All calls may come from any thread, and may wait.
public protocol DatabaseStore: Sendable {
    /// The store's location in messages: a folder's path, or an address without a password.
    var place: String { get }

    /// Opens an existing database. If this store already has it open, it returns the same object.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound`, `invalid` for an illegal name, or another code of the
    ///   storage.
    func open(_ name: String) throws -> Database

    /// Creates a database.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for an illegal name, `exists`, or another code of the
    ///   storage.
    func create(_ name: String) throws -> Database

    /// Deletes a database with its contents, and closes the object through which this store has it open.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound`, or another code of the storage.
    func delete(_ name: String) throws

    /// Whether a database with a name exists.
    ///
    /// - Throws: ``DatabaseError`` if this can't be determined.
    func contains(_ name: String) throws -> Bool
}

/// The parts of a store that a server needs in addition to its databases.
package protocol ServerStore: DatabaseStore {
    /// Whether other nodes use the store at the same time.
    var isShared: Bool { get }

    /// Creates the list of the names of all databases. The server keeps it.
    func nameList() -> any DatabaseNameList

    /// Creates the storage of the server's settings. The server keeps it.
    func serverRecord() -> any ServerRecord

    /// Finds out, with one query, which changes other nodes have made in some databases and in the server's record;
    /// does nothing if the store is not shared.
    ///
    /// After the call, the engines of those databases that this store has open have reported all commits made
    /// before the call. A database that was deleted or replaced by another one of its name is closed, so that its
    /// feeds end and the name refers to the new one. ``ServerRecord/newestVersion`` is that of the stored record.
    ///
    /// - Parameter names: The databases' names; all other databases are ignored. If it is empty, only the record is
    ///   checked.
    /// - Throws: ``DatabaseError`` with code `unavailable` if the store can't be reached.
    func freshen(_ names: [String]) throws

    /// Checks that the store confirms writes, if there is reason to doubt it.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` if it does not.
    func checkWrites() throws

    /// The metrics of the store for an operator.
    var numbers: [StoreNumber] { get }

    /// Creates the folder on this machine in which a server collects long request bodies, and returns its path.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`.
    func uploadFolder() throws -> String
}

extension ServerStore {
    /// Does nothing.
    package func checkWrites() throws {}

    /// Empty.
    package var numbers: [StoreNumber] { [] }
}

/// A metric of a store for an operator.
package struct StoreNumber: Sendable {
    /// Its name, in the style of metrics.
    package let name: String
    /// A description of the counted objects.
    package let help: String
    /// The value.
    package let value: Int
    /// Whether it is a counter, which only grows.
    package let isCounter: Bool

    /// Makes a number.
    package init(_ name: String, _ help: String, _ value: Int, isCounter: Bool = false) {
        (self.name, self.help, self.value, self.isCounter) = (name, help, value, isCounter)
    }
}

// MARK: - DatabaseNameList

/// The names of all databases of a store, for one server.
package protocol DatabaseNameList: Sendable {
    /// Calls a closure with the names of all databases, sorted by their bytes.
    ///
    /// - Throws: ``DatabaseError`` if the names can't be read, and errors of the closure.
    func read<Result: Sendable>(_ body: ([String]) throws -> Result) throws -> Result

    /// Returns the names that satisfy a condition, sorted by their bytes.
    ///
    /// - Throws: ``DatabaseError`` if the names can't be read.
    func names(where condition: (String) -> Bool) throws -> [String]

    /// Runs a closure by which the server creates or deletes a database, so that a cached list is updated.
    ///
    /// - Throws: Errors of the closure.
    func change<Result>(_ name: String, _ body: () throws -> Result) throws -> Result
}

extension DatabaseNameList {
    /// Reads all names.
    package func names(where condition: (String) -> Bool) throws -> [String] {
        try read { names in names }.filter(condition)
    }

    /// Runs the closure. A list that is read each time needs no update.
    package func change<Result>(_ name: String, _ body: () throws -> Result) throws -> Result { try body() }
}

// MARK: - ServerRecord

/// The stored settings of the servers of a store, including secrets: a sequence of bytes with a version.
///
/// Every write gives the record a new version. Nodes that share it change it by comparing versions: a node that has
/// read version 7 replaces only version 7, so it never overwrites a change that it has not seen.
package protocol ServerRecord: Sendable {
    /// The record's location in messages: "the settings file /srv/settle/server.json".
    var place: String { get }

    /// Reserves the store for one server, if only one may use it. It does nothing in a shared store, or if this
    /// record has already reserved it.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another server has the store, or `inputOutput`.
    func reserve() throws

    /// Ends the reservation, so that other servers can have the store.
    func release()

    /// Reads the record; `nil` before it was first written.
    ///
    /// - Throws: ``DatabaseError`` of the storage.
    func read() throws -> (bytes: [UInt8], version: Int64)?

    /// Writes the record, durably and atomically.
    ///
    /// - Parameters:
    ///   - bytes: The new content.
    ///   - version: The version that the caller has read; `nil` if there was no record.
    /// - Returns: The new version; `nil` if another node has written meanwhile. Nothing is then written.
    /// - Throws: ``DatabaseError`` of the storage.
    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64?

    /// The version that the last ``DatabaseStore/freshen(_:)`` has found; `nil` if no other node can write, or
    /// before there is a record. Reading this property never waits.
    var newestVersion: Int64? { get }
}
