internal import Settle
internal import SettlePlatform

/// `settle offline-sync`: uploads the journal to a server, operation by operation, and decides conflicts.
enum OfflineSyncCommand: Command {
    private enum Answer: String, CaseIterable { case ask, mine, theirs, stop }

    static let spec = CommandSpec(
        "offline-sync", "send local operations one by one, and decide refused ones",
        discussion: """
            The operations of the journal are sent in order, each based on the server's revision it was made on, and \
            then the changes of others are fetched. No conflict is ever stored: the first operation on a document that \
            was changed at the server is refused, and none after it is sent until a decision is made. `settle sync` \
            instead stores both sides and continues.
            On a terminal each refused operation is shown with the base, the local and the server's version, and you \
            choose: keep mine, take theirs, edit, or skip, which ends the command; nothing is lost, and the next run \
            continues there. Elsewhere --on-conflict decides (default `stop`).
            """,
        operands: [.folder, Operand("URL", takesURL: true, "the database at a server: Settle or any CouchDB")],
        options: [
            Option("--on-conflict", value: "WAY", "one of ask, mine, theirs, stop"),
            Option("--attributes", "changes of different members are not a conflict"),
        ],
        examples: [
            CommandSpec.Example(
                "settle offline-sync groceries https://anna@couch.example/groceries", "asks about each conflict"),
            CommandSpec.Example(
                "settle offline-sync groceries http://localhost:5984/groceries --on-conflict theirs --json",
                "keeps the server's version, for a script"),
        ],
        json: """
            for each conflict {"conflict":{"operation":…,"id":…,"old":… or null,"new":… or null,"server":… or null,\
            "reason":…},"decision":"mine", "theirs", "edit" or "skip"}; at the end {"ok":bool,"state":…,"left":N,\
            "last_sync":milliseconds or null}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        guard Invocation.isURL(try arguments.operand("URL")) else {
            throw CommandError.usage("URL must be one, as in http://localhost:5984/groceries", verb: spec.name)
        }
        let isAsked = isatty(0) == 1 && invocation.console.terminal.isTerminal && !invocation.console.isJSON
        let way = try arguments.choice("--on-conflict", isAsked ? Answer.ask : .stop)
        Interruption.watch()
        return try invocation.withSide("URL", creates: false) { side in
            guard let peer = side.peer as? CouchDBPeer, let url = side.url else {
                throw CommandError.usage("URL is not the URL of a server", verb: spec.name)
            }
            return try invocation.withJournal { database, journal in
                var options = OfflineSessionOptions()
                options.startsOnline = false
                if arguments.flag("--attributes") { options.acceptance = .unchangedAttributes }
                let session = try OfflineSession(database, server: peer, options: options)
                let run = OfflineSyncRun(session: session, url: url, console: invocation.console)
                return try run.run(journal) { conflict in
                    switch way {
                    case .mine: return conflict.reason == .changed ? .mine : .skip
                    case .theirs: return .theirs
                    case .stop: return .skip
                    case .ask: return try run.ask(conflict)
                    }
                }
            }
        }
    }
}
