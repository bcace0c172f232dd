internal import Foundation
internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
import SettlePlatform
import SettleReplication
internal import SettleServer

/// One backup: it writes the files of a moment, database by database.
final class BackupRun {
    private let source: BackupSource
    private let folder: BackupFolder
    private let before: BackupMoment?
    private let console: Console
    private let place: String
    private var moment: BackupMoment
    /// The number of changed documents that were written, of bytes, and of damaged revisions that were left out.
    private(set) var documents = 0
    private(set) var bytes: Int64 = 0
    private(set) var damaged = 0

    init(
        _ source: BackupSource, _ folder: BackupFolder, before: BackupMoment?, named name: String, _ console: Console
    ) throws {
        (self.source, self.folder, self.before, self.console) = (source, folder, before, console)
        moment = BackupMoment(name, source: source.name)
        place = try folder.begin(name)
    }

    func run() throws -> BackupMoment {
        let bar = ProgressBar(console)
        defer { bar.finish() }
        let names = try source.names()
        for (index, name) in names.enumerated() {
            try Interruption.check()
            bar.update(
                "Backing up", fraction: Double(index) / Double(max(names.count, 1)),
                "\(name)  \(Quantity.bytes(bytes))")
            if let entry = try source.withDatabase(name, { try backUp(name, $0) }) {
                moment.databases.append((name, entry))
            }
        }
        if let settings = try source.settings() {
            moment.server = try write("server.json") { try $0.write(settings) }
        }
        try folder.finish(moment)
        try record()
        return moment
    }

    /// Records the finished backup in each database. A record that can't be written does not make the backup fail.
    private func record() throws {
        let finished = WallTime.now().precise
        for (name, entry) in moment.databases {
            let record = BackupRecord(moment: moment.name, finished: finished, sequence: entry.sequence)
            do { _ = try source.withDatabase(name) { try record.store(in: $0) } } catch let error as CommandError
                where error.status != .interrupted
            {
                let problem = "the backup is whole, but could not be recorded in the database: \(error.message)"
                console.complain("\(name): \(problem)", json: ["db": .string(name), "warning": .string(problem)])
            }
        }
    }

    private func backUp(_ name: String, _ client: Client) throws -> BackupMoment.Entry {
        let file = DocumentStore.stem(of: name)
        let info = try client.info()
        // The part before the slash names the server, which is a new one each time for a folder.
        let instance = try client.wait { _, peer in try await peer.connect().instance }?
            .split(separator: "/").last.map(String.init)
        let purges = info["purge_seq"] ?? .null
        let last = before?[name].flatMap { $0.instance == instance && $0.purges == purges ? $0 : nil }
        // Local documents come before the documents: a checkpoint must not be ahead of the documents that it covers.
        let locals = try write(file + ".local.jsonl") { output in
            try RemoteExport(remote: client, options: Exporter.Options()).runLocals(
                Exporter(to: output, options: .init()))
        }
        var end = RemoteExport.End(sequence: PeerSequence(last?.sequence ?? 0), isConsistent: true)
        var (count, leftOut) = (0, 0)
        let written = try write(file + ".jsonl") { output in
            let exporter = Exporter(to: output, options: Exporter.Options())
            var export = RemoteExport(remote: client, options: Exporter.Options())
            export.leaveOut = { [console] id, error in
                leftOut += 1
                console.complain(
                    "\(name): left out: \((error as? CommandError)?.message ?? "\(error)")",
                    json: ["id": .string(id.string), "db": .string(name)])
            }
            end = try export.runDocuments(exporter, from: end.sequence)
            leftOut += exporter.counts.damaged
            count = exporter.counts.documents
        }
        documents += count
        damaged += leftOut
        if count == 0 { try FileManager.default.removeItem(atPath: "\(place)/\(file).jsonl") }
        return BackupMoment.Entry(
            // The next backup reads everything, and so tries the omitted revisions again.
            instance: leftOut == 0 ? instance : nil, purges: purges, sequence: end.sequence.json,
            security: try client.json("GET", "_security"),
            revisionLimit: try client.json("GET", "_revs_limit").int, isConsistent: end.isConsistent,
            documents: (last?.documents ?? []) + (count > 0 ? [written] : []), locals: locals)
    }

    private func write(_ file: String, _ body: (ByteOutput) throws -> Void) throws -> BackupMoment.File {
        let output = try ByteOutput(path: place + "/" + file)
        try body(output)
        try output.finish()
        bytes += output.count
        return try folder.described(file, in: moment.name, folder: place)
    }
}

// MARK: - BackupRecord

/// The record of a database's newest backup, from which the server knows how old it is: a local document, which no backup
/// and no export contains.
struct BackupRecord {
    /// The id of the document.
    static let id = DocumentID(unchecked: "_local/settle-backup")
    private static let path = HTTPPath(segments: ["_local", "settle-backup"])

    /// The name of the moment.
    let moment: String
    /// The time when all files were written.
    let finished: String
    /// The position of the last change in the backup.
    let sequence: JSONValue

    /// Writes the record, unless the database is at a server of another product.
    ///
    /// - Throws: ``CommandError``, with status `refused` if the user may not write to the database.
    func store(in client: Client) throws {
        guard try client.isAtSettle() else { return }
        var record: JSONValue = [
            "moment": .string(moment), "finished": .string(finished), "update_seq": sequence,
        ]
        do { record["_rev"] = try client.json("GET", Self.path)["_rev"] } catch let error as CommandError
            where error.status == .notFound
        {}
        try client.json("PUT", Self.path, body: record)
    }
}

// MARK: - BackupSource

/// The server of a backup: at a URL, or in a folder that no server has open.
final class BackupSource {
    /// Its name in messages and moments: the URL without user and password, or the folder.
    let name: String
    private let url: HTTPURL?
    private let store: DocumentStore?
    private let record: (any ServerRecord)?
    private let invocation: Invocation

    /// Finds the server. A folder is reserved until the object is released.
    ///
    /// - Throws: ``CommandError`` with status `inUse` if a server has the folder, for a missing folder, and for one
    ///   that has databases without valid names, which would be left out.
    init(_ operand: String, _ invocation: Invocation) throws {
        self.invocation = invocation
        if Invocation.isURL(operand) {
            let url = try HTTPURL(operand)
            (self.url, name, store, record) = (url, url.withoutCredentials.description, nil, nil)
            return
        }
        guard FileStatus(path: operand)?.isFolder == true else {
            throw CommandError.notFound("there is no folder \(operand) of databases")
        }
        if FileStatus(path: operand + "/database.sqlite") != nil {
            throw CommandError.usage(
                "\(operand) is a database; give the folder that it is in, or save it alone with `settle export`",
                verb: "backup")
        }
        let store = try DocumentStore(path: operand)
        let record = store.serverRecord()
        do { try record.reserve() } catch let error as DatabaseError where error.code == .inUse {
            throw CommandError(
                "in_use", "a server has the folder \(operand); give its URL, such as http://127.0.0.1:5984",
                status: .inUse)
        }
        (url, name, self.store, self.record) = (nil, operand, store, record)
        try DatabaseFolders.checkNames(
            in: operand, "nothing was backed up",
            otherwise: "move them out of \(operand), and save each alone with `settle export`")
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
        defer { invocation.close(database) }
        let server = try InProcessServer(database, path: name, console: invocation.console)
        return try body(Client(server, path: name, console: invocation.console))
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
        return try Client(url.appending(path), arguments: invocation.arguments, console: invocation.console)
    }

    /// Sends a request about the server itself, not about a database.
    private func json(_ path: String) throws -> JSONValue {
        try client(HTTPPath(segments: path.split(separator: "/").map(String.init))).json()
    }
}
