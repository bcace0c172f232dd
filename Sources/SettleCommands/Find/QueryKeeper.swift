internal import Settle

/// Who answers queries by selector and keeps their indexes: this process, in the folder of a database, or a server.
///
/// What is asked and answered is the JSON of CouchDB's `_find`, `_explain` and `_index`.
protocol QueryKeeper {
    /// Goes over the documents of a query.
    ///
    /// - Parameters:
    ///   - request: The query.
    ///   - body: Is given each document as JSON text, and says whether to go on.
    /// - Returns: What stands beside the documents, such as `warning` and `bookmark`; nothing when the closure wanted no more.
    /// - Throws: ``CommandError``, and what `body` throws.
    func find(_ request: JSONObject, _ body: ([UInt8]) throws -> Bool) throws -> JSONObject

    /// How a query would be answered.
    func explain(_ request: JSONObject) throws -> JSON

    /// The indexes: `ddoc`, `name`, `type` and `def`, and where that is known `rows`, `size` and `pending`.
    func indexes() throws -> [JSON]

    /// Makes an index; tells `result`, `id` and `name`.
    func create(_ request: JSONObject) throws -> JSON

    /// Removes an index.
    func delete(_ index: NamedIndex) throws

    /// Brings an index up to date.
    func build(_ index: NamedIndex) throws
}

extension Invocation {
    /// Lends who answers the database's queries to a closure.
    func withQueries<Result>(_ body: (any QueryKeeper) throws -> Result) throws -> Result {
        if let remote = try remote() { return try body(ServerQueries(remote: remote)) }
        let name = try path().split(separator: "/").last.map(String.init) ?? ""
        return try withDatabase { try body(FolderQueries($0, name: name, console)) }
    }
}
