internal import Settle
import SettleCore
import SettleDatabase
import SettlePlatform
import SettleReplication

/// The server of a backup: at a URL, or in a folder that no server has open.
final class BackupSource {
    /// Its name in messages and moments: the URL without user and password, or the folder.
    let name: String
    private let url: HTTPURL?
    private let store: DocumentStore?
    private let record: (any ServerRecord)?
    private let arguments: Arguments
    private let console: Console

    /// Finds the server. A folder is reserved until the object is released.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if a server has the folder; ``CommandError`` for a missing folder.
    init(_ operand: String, _ invocation: Invocation) throws {
        (arguments, console) = (invocation.arguments, invocation.console)
        if Invocation.isURL(operand) {
            let url = try HTTPURL(operand)
            (self.url, name, store, record) = (url, url.withoutCredentials.description, nil, nil)
            return
        }
        guard FileStatus(path: operand)?.isFolder == true else {
            throw CommandError.notFound("there is no folder \(operand) of databases")
        }
        let store = try DocumentStore(path: operand)
        let record = store.serverRecord()
        do { try record.take() } catch let error as DatabaseError where error.code == .inUse {
            throw CommandError(
                "in_use", "a server has the folder \(operand); give its URL, such as http://127.0.0.1:5984",
                status: .inUse)
        }
        (url, name, self.store, self.record) = (nil, operand, store, record)
    }

    deinit { record?.release() }

    /// The names of all databases, sorted.
    func names() throws -> [String] {
        if let store { return try store.names() }
        return try json("_all_dbs").array?.compactMap(\.string).sorted() ?? []
    }

    /// The server's own settings; `nil` if it stores none, or if it is another product that does not return them.
    func settings() throws -> [UInt8]? {
        if let record { return try record.read()?.bytes }
        do { return try json("_node/_local/_settings").utf8 } catch let error as CommandError
            where error.status == .notFound
        { return nil }
    }

    /// Lends the client of a database to a closure.
    ///
    /// - Returns: What the closure returns; `nil` for a database that was deleted meanwhile.
    /// - Throws: What the closure throws, also when the database is there and something in it is missing.
    func withDatabase<Result>(_ name: String, _ body: (Client) throws -> Result) throws -> Result? {
        do { return try lend(name, body) } catch {
            guard CommandError(error).status == .notFound, try !contains(name) else { throw error }
            return nil
        }
    }

    private func lend<Result>(_ name: String, _ body: (Client) throws -> Result) throws -> Result {
        guard let store else { return try body(try client(HTTPPath(segments: [name]))) }
        let database = try store.open(name)
        defer { database.close() }
        return try body(Client(database, path: name, console: console))
    }

    /// Whether there is a database of a name now.
    private func contains(_ name: String) throws -> Bool {
        if let store { return store.contains(name) }
        do { _ = try client(HTTPPath(segments: [name])).info() } catch let error as CommandError
            where error.status == .notFound
        { return false }
        return true
    }

    private func client(_ path: HTTPPath) throws -> Client {
        guard let url else { throw CommandError.invalid("a folder has no address") }
        return try Client(url.appending(path), arguments: arguments, console: console)
    }

    /// Sends a request about the server itself, not about a database.
    private func json(_ path: String) throws -> JSONValue {
        try client(HTTPPath(segments: path.split(separator: "/").map(String.init))).json()
    }
}
