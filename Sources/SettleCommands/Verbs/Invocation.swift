internal import Settle

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// One call of a verb: what it was given, and where its results go.
struct Invocation {
    let arguments: Arguments
    let console: Console

    /// The database's folder: the one given, or the one with `.settle` at its end when only that exists.
    func path(_ operand: String = "DB") throws -> String {
        let given = try arguments.operand(operand)
        if given.isEmpty { throw CommandError.usage("\(operand) is empty") }
        var path = given
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        let isThere = access(path, F_OK) == 0
        return !isThere && !path.hasSuffix(".settle") && access(path + ".settle", F_OK) == 0 ? path + ".settle" : path
    }

    /// Opens the database, lends it to a closure, and closes it.
    ///
    /// The library writes its warnings to standard error, unless the verb tells of them itself.
    func withDatabase<Result>(
        creates: Bool = false, warns: Bool = true, _ body: (Database) throws -> Result
    ) throws -> Result {
        let path = try path()
        var options = DatabaseOptions()
        if !warns { options.warn = { _ in } }
        let database = try waiting {
            creates ? try Database.openOrCreate(path, options: options) : try Database.open(path, options: options)
        }
        defer { database.close() }
        return try body(database)
    }

    /// Tries again for a while as long as another process has the database open.
    func waiting<Result>(_ open: () throws -> Result) throws -> Result {
        let limit = Duration.seconds(try arguments.count("--wait") ?? 1)
        let clock = ContinuousClock()
        let start = clock.now
        while true {
            do { return try open() } catch let error as DatabaseError where error.code == .inUse {
                if clock.now - start >= limit { throw error }
                usleep(20_000)
            }
        }
    }

    /// The document's id.
    func documentID() throws -> DocumentID { try DocumentID(validating: arguments.operand("ID")) }

    /// The revision of `--rev`.
    func revision() throws -> RevisionID? { try arguments.text("--rev").map { try RevisionID(validating: $0) } }

    /// Writes what a write of a document has made: the revision alone, so that scripts can take it.
    func print(_ id: DocumentID, _ revision: String) throws {
        try console.print(
            revision, json: ["ok": true, "id": .string(id.string), "rev": .string(revision)])
    }
}
