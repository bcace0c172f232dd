/// A store of named databases, as a server uses it: a folder of one server, or a database server that many share.
///
/// A ``DocumentStore`` is the folder, and a `PostgresStore` is shared; a server takes no other. A shared store gives the same answers on every node: nothing that a node keeps in memory
/// counts longer than one request, which begins with `freshen(_:)` inside ``Freshness/answering(_:)``.
///
///     node A   PUT /notes/_security ───── commit
///     node B                                       freshen(["notes", "_users"]) ─→ what A wrote counts here
///
/// All calls may come from any thread, and may wait.
public protocol DatabaseStore: Sendable {
    /// The store's place for messages: a folder's path, or an address without a password.
    var place: String { get }

    /// Opens a database that exists, or returns the object by which this store has it open.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound`, `invalid` for an illegal name, or others of the storage.
    func open(_ name: String) throws -> Database

    /// Creates a database.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for an illegal name, `exists`, or others of the storage.
    func create(_ name: String) throws -> Database

    /// Deletes a database with its contents, and closes the object by which this store has it open.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound`, or others of the storage.
    func delete(_ name: String) throws

    /// Whether there is a database of a name.
    ///
    /// - Throws: ``DatabaseError`` when that can't be found out.
    func contains(_ name: String) throws -> Bool
}

/// What a server needs of a store besides its databases.
package protocol ServerStore: DatabaseStore {
    /// Whether other nodes use the store at the same time.
    var isShared: Bool { get }

    /// Makes the list of the names of all databases, which a server keeps.
    func nameList() -> any DatabaseNameList

    /// Makes what stores the settings of a server, which keeps it.
    func serverRecord() -> any ServerRecord

    /// Finds out, by one question, what other nodes have changed in some databases and in the server's record; does nothing where
    /// there are no others.
    ///
    /// After it the engines of those databases that this store has open have given notice of all commits before the call, a database
    /// that was deleted or replaced by another one of its name is closed, so that its feeds end and the name leads to what is
    /// there now, and ``ServerRecord/newestVersion`` is that of the stored record.
    ///
    /// - Parameter names: The databases' names; others are left as they are. Without any, the record alone is asked for.
    /// - Throws: ``DatabaseError`` with code `unavailable` when the store can't be reached.
    func freshen(_ names: [String]) throws

    /// Checks that writes are answered, if there is reason to doubt it.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` when they are not.
    func checkWrites() throws

    /// The numbers that an operator watches.
    var numbers: [StoreNumber] { get }

    /// Makes the folder on this machine in which a server collects long bodies of requests, and returns its path.
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

/// A number of a store that an operator watches.
package struct StoreNumber: Sendable {
    /// Its name, in the manner of metrics.
    package let name: String
    /// A description of what it counts.
    package let help: String
    /// The number.
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
    /// - Throws: ``DatabaseError`` when the names can't be read, and what the closure throws.
    func read<Result: Sendable>(_ body: ([String]) throws -> Result) throws -> Result

    /// Returns the names that meet a condition, sorted by their bytes.
    ///
    /// - Throws: ``DatabaseError`` when the names can't be read.
    func names(where condition: (String) -> Bool) throws -> [String]

    /// Runs a closure by which the server creates or deletes a database, so that a list in memory learns of it.
    ///
    /// - Throws: What the closure throws.
    func change<Result>(_ name: String, _ body: () throws -> Result) throws -> Result
}

extension DatabaseNameList {
    /// Reads all names.
    package func names(where condition: (String) -> Bool) throws -> [String] {
        try read { names in names }.filter(condition)
    }

    /// Runs the closure: a list that is read anew each time has nothing to learn.
    package func change<Result>(_ name: String, _ body: () throws -> Result) throws -> Result { try body() }
}

// MARK: - ServerRecord

/// The place where a store keeps the settings of its servers, with the secrets among them: one text of bytes with a version.
///
/// Every write gives the record another version. Nodes that share it change it by comparing versions: who reads version 7 and
/// replaces version 7 overwrites nothing that it has not seen.
package protocol ServerRecord: Sendable {
    /// The record's place for messages: "the settings file /srv/settle/server.json".
    var place: String { get }

    /// Reserves the store for one server, where only one may use it; does nothing in a shared store, nor when this record has
    /// reserved it already.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` when another server has the store, or `inputOutput`.
    func reserve() throws

    /// Lets other servers have the store.
    func release()

    /// Reads the record; `nil` before it was first written.
    ///
    /// - Throws: ``DatabaseError`` of the storage.
    func read() throws -> (bytes: [UInt8], version: Int64)?

    /// Writes the record, durably and as a whole.
    ///
    /// - Parameters:
    ///   - bytes: The new content.
    ///   - version: The version that the caller has read; `nil` if there was no record.
    /// - Returns: The new version, or `nil` when another node has written meanwhile; then nothing was written.
    /// - Throws: ``DatabaseError`` of the storage.
    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64?

    /// The version that the last ``DatabaseStore/freshen(_:)`` has found; `nil` where nobody else writes, and before there is a
    /// record. Asking for it waits for nothing.
    var newestVersion: Int64? { get }
}
