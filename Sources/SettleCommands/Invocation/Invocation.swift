internal import Foundation
internal import Settle
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
import SettleReplication
internal import SettleServer
internal import Synchronization

/// One call of a command: its arguments, and the console for its results.
struct Invocation {
    let arguments: Arguments
    let console: Console
    /// The shell whose line this command is, if any.
    let session: ShellSession?
    /// Runs a line of a shell.
    let runLine: ([String], ShellSession) -> ExitStatus

    /// The database's folder: the given path, with `.settle` appended if only that exists.
    ///
    /// A suffix makes the name of a database beside it.
    ///
    /// - Throws: ``CommandError`` with status `usage` for a URL.
    func path(_ operand: String = "DB", suffix: String = "") throws -> String {
        let given = try arguments.operand(operand)
        if given.isEmpty { throw CommandError.usage("\(operand) is empty") }
        if Self.isURL(given) {
            throw CommandError.usage(
                "this command takes the folder of a database, not a URL; run it on the machine of the database")
        }
        var path = given
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        let ending = DocumentStore.suffix
        if !suffix.isEmpty {
            path = path.hasSuffix(ending) ? path.dropLast(ending.count) + suffix + ending : path + suffix
        }
        let isThere = access(path, F_OK) == 0
        return !isThere && !path.hasSuffix(ending) && access(path + ending, F_OK) == 0 ? path + ending : path
    }

    /// The database at a server, when a URL was given; `nil` for a folder. Where `serverDatabase` is given, the URL of a server
    /// stands for that database; the options of `onlyURLs` are refused for a folder.
    /// A suffix makes the name of a database beside it.
    func remote(serverDatabase: String? = nil, suffix: String = "", onlyURLs: [String] = []) throws -> Client? {
        let given = try arguments.operand("DB")
        guard Self.isURL(given) else {
            let options = RemoteOptions.options.map(\.name) + onlyURLs
            if let option = options.first(where: arguments.isGiven) {
                throw CommandError.usage("\(option) is for URLs, and \(given) is a folder")
            }
            return nil
        }
        var place = given
        while !suffix.isEmpty, place.hasSuffix("/") { place.removeLast() }
        var url = try HTTPURL(place + suffix.replacing("+", with: "%2B"))
        if let serverDatabase, url.databaseName == nil { url = url.appending(HTTPPath(segments: [serverDatabase])) }
        return try Client(url, arguments: arguments, console: console)
    }

    /// Passes the client of the database to a closure. The database is at a URL, or in a folder that is open
    /// meanwhile.
    func withClient<Result>(
        warns: Bool = true, serverDatabase: String? = nil, onlyURLs: [String] = [], _ body: (Client) throws -> Result
    ) throws -> Result {
        if let remote = try remote(serverDatabase: serverDatabase, onlyURLs: onlyURLs) { return try body(remote) }
        let path = try path()
        return try withDatabase(warns: warns) { database in
            let server = try InProcessServer(database, path: path, console: console)
            let client = try Client(server, path: path, place: database.path, console: console)
            let result = try body(client)
            try client.finish()
            return result
        }
    }

    static func isURL(_ text: String) -> Bool { text.contains("://") }

    /// Opens the database, passes it to a closure, and closes it.
    ///
    /// The library's warnings are written to standard error, unless the command reports them itself.
    func withDatabase<Result>(
        suffix: String = "", creates: Bool = false, warns: Bool = true, journal: Bool? = nil,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        var options = DatabaseOptions()
        options.journal = journal
        if !warns { options.warn = { _ in } }
        return try withDatabase("DB", suffix: suffix, options: options, creates: creates, body)
    }

    /// Opens the database of an operand, passes it to a closure, and closes it. The database of a shell stays open.
    ///
    /// If the closure throws, a database that was created for it and contains no document is removed again.
    func withDatabase<Result>(
        _ operand: String, suffix: String = "", options: DatabaseOptions, creates: Bool,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        let path = try path(operand, suffix: suffix)
        func open() throws -> Database {
            do {
                return try waiting {
                    creates
                        ? try Database.openOrCreate(path, options: options) : try Database.open(path, options: options)
                }
            } catch let error as DatabaseError where error.code == .notFound {
                throw CommandError.notFound("\(error.message); `settle create` creates it")
            }
        }
        let isNew = creates && FileStatus(path: path) == nil
        let isOfShell = operand == "DB" && suffix.isEmpty && session != nil
        let database = try isOfShell ? session?.database(options, open: open) ?? open() : open()
        defer { close(database) }
        do { return try body(database) } catch {
            if isNew, !isOfShell, (try? database.info().lastSequence) == 0 {
                database.close()
                // The failure of the command is reported, not that of the removal.
                try? FileManager.default.removeItem(atPath: path)
            }
            throw error
        }
    }

    /// Closes a database, unless it is that of the shell: opening its folder returns the same object.
    func close(_ database: Database) { if session?.keeps(database) != true { database.close() } }

    /// Retries for a while if another process has the database open.
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

    /// Prints the result of a document's write: only the revision, for use in scripts.
    func print(_ id: DocumentID, _ revision: String) throws {
        try console.print(
            revision, json: ["ok": true, "id": .string(id.string), "rev": .string(revision)])
    }
}

extension Invocation {
    /// The leaf that a change extends: that of `--rev`, otherwise the winner.
    func documentToAdd(to state: DocumentState) throws -> Document? {
        if let revision = try revision() { return try state.document(toEdit: revision) }
        return state.shown
    }

    /// Repeats a write that lost against a concurrent one, if the last write is to win.
    func retrying<Result>(_ isForced: Bool, _ write: () throws -> Result) throws -> Result {
        for _ in 0..<(isForced ? 9 : 0) {
            do { return try write() } catch let error as CommandError where error.status == .conflict {}
        }
        return try write()
    }
}

extension Invocation {
    /// Opens the database, passes it with its journal to a closure, and closes it.
    ///
    /// - Throws: ``CommandError`` with status `notFound` if the journal is off.
    func withJournal<Result>(_ body: (Database, Journal) throws -> Result) throws -> Result {
        try withDatabase { database in
            guard let journal = database.journal else {
                throw CommandError.withoutJournal
            }
            return try body(database, journal)
        }
    }
}

extension InProcessServer {
    /// Creates the server for a folder's database, for its client.
    convenience init(_ database: Database, path: String, console: Console) throws {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        try self.init(
            database, name: name, scripts: OwnProgram.scriptOptions,
            log: ServerLog(format: console.isJSON ? .json : .text, events: .descriptor(2), requests: nil))
    }
}

// MARK: - Interruption

/// Records whether Ctrl-C was pressed. Long operations check it between steps, so that they end where they can be
/// resumed.
enum Interruption {
    private static let wasPressed = Atomic<Bool>(false)
    private static let isReading = Atomic<Bool>(false)

    /// Handles Ctrl-C from now on. The second time, it ends the process at once.
    ///
    /// The parent process may have left the signal blocked, so it is unblocked.
    static func watch() {
        wasPressed.store(false, ordering: .relaxed)
        unblock(SIGINT)
        // Interrupts a read that waits for input.
        Signals.handle(SIGINT) { _ in
            Interruption.wasPressed.store(true, ordering: .sequentiallyConsistent)
            signal(SIGINT, SIG_DFL)
            Interruption.repeatSignal()
        }
    }

    /// Runs a read of the terminal that ends after Ctrl-C, also if the signal comes just before the read begins to wait: another
    /// signal follows each second until the read has ended.
    static func endingRead<Value>(_ read: () -> Value) -> Value {
        unblock(SIGALRM)
        Signals.handle(SIGALRM) { _ in Interruption.repeatSignal() }
        isReading.store(true, ordering: .sequentiallyConsistent)
        defer {
            isReading.store(false, ordering: .relaxed)
            alarm(0)
        }
        if isWanted { repeatSignal() }
        return read()
    }

    private static func unblock(_ signal: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    private static func repeatSignal() { if isReading.load(ordering: .sequentiallyConsistent) { alarm(1) } }

    /// Whether Ctrl-C was pressed since ``watch()``.
    static var isWanted: Bool { wasPressed.load(ordering: .sequentiallyConsistent) }

    /// Checks that Ctrl-C was not pressed.
    ///
    /// - Throws: ``CommandError/interrupted`` if it was.
    static func check() throws {
        if isWanted { throw CommandError.interrupted }
    }

    /// Turns writing to a closed pipe into an error; otherwise it would end the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
