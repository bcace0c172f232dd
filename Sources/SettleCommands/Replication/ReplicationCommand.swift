internal import Foundation
internal import Settle
internal import SettleHTTP
import SettleReplication

/// The common part of `push`, `pull` and `sync`.
struct ReplicationCommand {
    let invocation: Invocation
    /// The name of the operand for the other side.
    let other: String
    /// The directions of the command.
    let sends: Bool
    let receives: Bool
    let verb: String

    /// Replicates, and reports the results.
    func run() throws -> ExitStatus {
        let options = ReplicationOptions(arguments: invocation.arguments, verb: verb)
        Interruption.watch()
        do { return try run(options) } catch let failure as DatabaseError where failure.code == .notFound {
            throw advised(CommandError(failure), options)
        } catch let failure as CommandError where failure.status == .notFound {
            throw advised(failure, options)
        }
    }

    /// Adds a hint about the option that creates the missing database to a failure.
    private func advised(_ failure: CommandError, _ options: ReplicationOptions) -> CommandError {
        let message = failure.message
        let what = message.range(of: "; `settle create`").map { String(message[..<$0.lowerBound]) } ?? message
        guard !options.creates, what.hasPrefix("there is no database") else { return failure }
        // A source is only read, so --create doesn't create it.
        if !(sends && receives), let source = address(of: sends ? "DB" : other), what.hasSuffix(" at \(source)") {
            return CommandError(failure.code, what, status: failure.status)
        }
        return CommandError(failure.code, "\(what); --create creates it", status: failure.status)
    }

    /// The address or the folder of a side, as messages about a missing database name it.
    private func address(of operand: String) -> String? {
        guard let given = try? invocation.arguments.operand(operand) else { return nil }
        if Invocation.isURL(given) { return (try? PeerAddress(given))?.description }
        return (try? invocation.path(operand)).map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    }

    private func run(_ options: ReplicationOptions) throws -> ExitStatus {
        let console = invocation.console
        let createsFirst = receives && options.createsFolder && (!sends || options.creates)
        return try invocation.withSide("DB", creates: createsFirst) { first in
            try invocation.withSide(other, creates: sends && options.createsFolder) { second in
                if let database = first.database, database === second.database {
                    throw CommandError.usage("both are the same database", verb: verb)
                }
                var jobs: [ReplicationRunner.Job] = []
                // Conflicts that were settled while receiving are sent afterward.
                if receives { jobs.append(try job("Receiving", from: second, to: first, options)) }
                if sends { jobs.append(try job("Sending", from: first, to: second, options)) }
                let runner = ReplicationRunner(
                    console: console, showsEvents: invocation.arguments.flag("--events"))
                let isContinuous = invocation.arguments.flag("--continuous")
                var results: [ReplicationResult] = []
                do {
                    // Without --continuous one direction follows the other, unless Ctrl-C was pressed.
                    for next in isContinuous ? [jobs] : jobs.map({ [$0] })
                    where results.isEmpty || !Interruption.isWanted { results += try runner.run(next) }
                } catch let error as PeerError { throw explained(error, first, second) }
                // Ctrl-C is the usual end of a continuous replication alone.
                let isInterrupted = !isContinuous && Interruption.isWanted
                let status = try report(results, of: jobs.count, in: runner.elapsed, isInterrupted: isInterrupted)
                if isInterrupted {
                    throw CommandError(
                        CommandError.interrupted.code,
                        "interrupted; what is reported is stored, and the same command continues",
                        status: .interrupted)
                }
                return status
            }
        }
    }

    private func job(
        _ label: String, from source: ReplicationSide, to target: ReplicationSide, _ options: ReplicationOptions
    ) throws -> ReplicationRunner.Job {
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        try options.apply(to: &configuration)
        configuration.createsSource = options.creates && sends && receives
        return ReplicationRunner.Job(label: label, configuration: configuration, isFromStart: options.isFromStart)
    }

    /// Reports the results of all directions, or of those that were begun before Ctrl-C.
    private func report(
        _ results: [ReplicationResult], of count: Int, in time: Duration, isInterrupted: Bool
    ) throws -> ExitStatus {
        let console = invocation.console
        let lines = ReplicationLines(console: console)
        for result in results { lines.complain(result.ledger) }
        let isWhole = results.allSatisfy { $0.ledger.entries.allSatisfy { $0.kind == .left } }
        var received: ReplicationCounts?
        var sent: ReplicationCounts?
        if receives { received = results.first?.counts }
        if sends, results.count == count { sent = results.last?.counts }
        if console.isJSON {
            var members: JSONObject = ["ok": .bool(isWhole && !isInterrupted)]
            members["sent"] = sent.map(ReplicationLines.json)
            members["received"] = received.map(ReplicationLines.json)
            members["seconds"] = JSONNumber(Quantity.seconds(time)).map(JSONValue.number) ?? .null
            try console.print(JSONValue.object(members).description)
        } else {
            let parts = [
                sent.map { "sent \(ReplicationLines.summary($0))" },
                received.map { "received \(ReplicationLines.summary($0))" },
            ].compactMap(\.self)
            let documents = results.reduce(0) { $0 + $1.counts.changesRead }
            let text = parts.joined(separator: "; ")
            try console.printNote(
                """
                \(text.prefix(1).uppercased())\(text.dropFirst()); \(Quantity.of(documents, "changed document")) compared \
                in \(Quantity.duration(time))
                """)
        }
        return isWhole ? .success : .failure
    }

    private func explained(_ error: PeerError, _ first: ReplicationSide, _ second: ReplicationSide) -> any Error {
        if let cause = error.cause as? DatabaseError { return cause }
        let urls = [first.url, second.url].compactMap(\.self)
        // The name of a database may begin with that of the other one.
        let named = urls.filter { error.message.contains($0.authority + $0.path) }.max { $0.path.count < $1.path.count }
        guard let url = named ?? urls.first else { return error }
        return ClientFailure(url: url).explained(error)
    }
}

/// The common help of the verbs that replicate.
extension ReplicationCommand {
    /// The description of the output with `--json`.
    static let json = """
        {"ok":bool,"sent":{"documents":N,"filtered":N,"left":N,"revisions":N,"present":N,"bytes":N,"refused":N,"failed":N,"gone":N,\
        "settled":N,"unsettled":N,"resyncs":N},"received":{the same},"seconds":N}, documents being the changed ones that \
        were compared; before it, under --events, {"event":"document","direction":…,"id":…,"revs":[…],"outcome":…} and, \
        under --continuous, {"event":"status","direction":…,"mode":…,"completed":N,"total":N,"written":N,"error":…}; on \
        standard error, for each revision that was not replicated, {"id":…,"rev":…,"error":kind,"message":text,\
        "attempts":N}; after Ctrl-C without --continuous "ok" is false, and a direction that was not begun is missing
        """
}

/// One side of a replication, given on the command line: the folder of a database, or the URL of one.
struct ReplicationSide {
    let peer: any Peer
    /// The database, for a folder.
    let database: Database?
    /// The address, for a URL.
    let url: HTTPURL?
}

extension Invocation {
    /// Passes one side of a replication to a closure.
    ///
    /// - Parameters:
    ///   - operand: The name of the operand for the side.
    ///   - creates: Whether a database is created if the folder does not exist.
    ///   - body: Uses the side; the database is closed afterwards.
    /// - Returns: The result of the closure.
    /// - Throws: ``CommandError``, ``DatabaseError`` or ``PeerError`` if the side does not exist; rethrows the closure's error.
    func withSide<Result>(
        _ operand: String, creates: Bool, _ body: (ReplicationSide) throws -> Result
    ) throws -> Result {
        let given = try arguments.operand(operand)
        let options = RemoteOptions(arguments: arguments, console: console)
        let warn: (String) -> Void = { console.complain("settle: \($0)", json: ["warning": .string($0)]) }
        if Self.isURL(given) {
            let address = try PeerAddress(given)
            let peer = try address.peer(
                credentials: try options.credentials(for: address.url), collection: arguments.text("--collection"),
                client: try options.client(), onWarning: warn)
            let url = address.isWebSocket ? nil : address.url.withoutCredentials
            return try body(ReplicationSide(peer: peer, database: nil, url: url))
        }
        var quiet = DatabaseOptions()
        // Replications report their warnings as events.
        quiet.warn = { _ in }
        return try withDatabase(operand, options: quiet, creates: creates) { database in
            try body(ReplicationSide(peer: LocalPeer(database), database: database, url: nil))
        }
    }
}

// MARK: - PushCommand

/// `settle push`: replicates a database to another one.
enum PushCommand: Command {
    static let spec = CommandSpec(
        "push", "replicate a database to another one",
        discussion: """
            All leaves that TARGET lacks are sent, with their histories and attachments. Revisions that TARGET refuses are \
            listed and make the exit code 1; the others are stored. With --linear a revision that would become a branch \
            there is refused: pull, settle, and push again. An interrupted push continues where it stopped. A missing \
            folder TARGET is created; a missing database at a server only with --create.
            """,
        operands: [.database, Operand("TARGET", takesURL: true, "the database to write to: a folder or a URL")],
        options: ReplicationOptions.options,
        examples: [
            CommandSpec.Example("settle push groceries http://admin@127.0.0.1:5984/groceries --create", "to a server"),
            CommandSpec.Example(
                "settle push groceries https://couch.example/mine --selector '{\"owner\":\"anna\"}'", "some of them"),
        ],
        json: ReplicationCommand.json)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try ReplicationCommand(invocation: invocation, other: "TARGET", sends: true, receives: false, verb: spec.name)
            .run()
    }
}

// MARK: - PullCommand

/// `settle pull`: replicates another database to one.
enum PullCommand: Command {
    static let spec = CommandSpec(
        "pull", "replicate another database to this one",
        discussion: """
            All leaves that DB lacks are fetched, with their histories and attachments. Documents edited on both sides are \
            in conflict afterwards, unless a policy settles them. Documents that a validation refuses are listed; the others \
            are stored. An interrupted pull continues where it stopped. A missing folder is created.
            """,
        operands: [.database, Operand("SOURCE", takesURL: true, "the database to read: a folder or a URL")],
        options: ReplicationOptions.options,
        examples: [
            CommandSpec.Example("settle pull groceries https://anna@couch.example/groceries", "fetches what is new"),
            CommandSpec.Example(
                "settle pull groceries http://127.0.0.1:5984/groceries --policy threeWayMerge -c --events",
                "fetches and settles until Ctrl-C, with a line for each document"),
        ],
        json: ReplicationCommand.json)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try ReplicationCommand(invocation: invocation, other: "SOURCE", sends: false, receives: true, verb: spec.name)
            .run()
    }
}

// MARK: - SyncCommand

/// `settle sync`: exchanges revisions between two databases.
enum SyncCommand: Command {
    static let spec = CommandSpec(
        "sync", "exchange revisions between two databases, once or continuously",
        discussion: """
            Each database gets the leaves it lacks from the other, with their histories and attachments, and the bases that \
            merges of its conflicts need. Nothing is overwritten: documents edited on both sides are in conflict afterwards, \
            on both sides, see `settle conflicts`. With a policy, conflicts are settled in DB as they arrive, and the \
            results are sent. Each side is a folder, or a URL of Settle, CouchDB, PouchDB Server or, by ws:// and wss://, Sync Gateway. Local documents are not \
            replicated. An interrupted sync continues where it stopped. A missing folder OTHER is created, and with \
            --create a missing database on either side.
            """,
        operands: [.database, Operand("OTHER", takesURL: true, "the other database: a folder or a URL")],
        options: ReplicationOptions.options,
        examples: [
            CommandSpec.Example("settle sync groceries /media/stick/groceries", "brings both up to date"),
            CommandSpec.Example(
                "settle sync groceries https://anna@couch.example/groceries --continuous --policy threeWayMerge",
                "keeps both equal until Ctrl-C, and settles what was edited on both sides"),
            CommandSpec.Example(
                "settle sync groceries wss://anna@gateway.example:4984/shop --collection inventory.food",
                "with a collection of a Sync Gateway"),
            CommandSpec.Example("settle sync groceries backup --quiet", "prints only failures"),
        ],
        json: ReplicationCommand.json)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try ReplicationCommand(invocation: invocation, other: "OTHER", sends: true, receives: true, verb: spec.name)
            .run()
    }
}
