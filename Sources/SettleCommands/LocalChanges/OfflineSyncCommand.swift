internal import Settle
internal import SettleHTTP
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
            continues there. Elsewhere --on-conflict decides (default `stop`); `mine` ends the command at an operation \
            that the server refuses by a rule, such as a validation or a permission, because it would refuse it again.
            The exit code is 4 if operations are left.
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

// MARK: - OfflineSyncRun

/// Synchronizes a session until all is sent or the user stops, and reports the outcome.
struct OfflineSyncRun {
    /// The decision about a refused operation.
    enum Decision {
        case mine
        case theirs
        /// The file keeps the text until the document is stored.
        case edit(DocumentBody, TextEditor)
        case skip

        var name: String {
            switch self {
            case .mine: "mine"
            case .theirs: "theirs"
            case .edit: "edit"
            case .skip: "skip"
            }
        }
    }

    let session: OfflineSession
    let url: HTTPURL
    let console: Console

    /// Synchronizes, and asks for a decision about each refused operation.
    func run(_ journal: Journal, decide: (OfflineConflict) throws -> Decision) throws -> ExitStatus {
        let session = session
        let before = journal.count
        var status = try wait { try await session.goOnline() }
        while let conflict = status.conflict {
            let decision = try decide(conflict)
            if console.isJSON {
                let line: JSONValue = ["conflict": json(conflict), "decision": .string(decision.name)]
                try console.print(line.description)
            }
            switch decision {
            case .skip: return try finish(status, before, journal)
            case .mine: try wait { try await session.replace(with: conflict.new?.body) }
            case .theirs: try wait { try await session.discard() }
            case .edit(let body, let file):
                do { try wait { try await session.replace(with: body) } } catch {
                    throw TextEditor.keeping([file], after: error)
                }
                file.remove()
            }
            status = try wait { try await session.goOnline() }
        }
        return try finish(status, before, journal)
    }

    private func finish(_ status: OfflineStatus, _ before: Int, _ journal: Journal) throws -> ExitStatus {
        if let error = status.error { throw ClientFailure(url: url).explained(error) }
        let left = journal.count
        if let conflict = status.conflict, !console.isJSON { try show(conflict) }
        let text =
            left == 0
            ? "Everything is synchronized, \(Quantity.of(before, "operation")) decided or sent"
            : "\(Quantity.of(left, "operation")) left; run it again to continue"
        try console.print(
            text,
            json: [
                "ok": .bool(status.state == .online), "state": .string(status.state.rawValue),
                "left": .number(JSONNumber(left)),
                "last_sync": status.lastSyncDate.map { .number(JSONNumber($0.milliseconds)) } ?? .null,
            ])
        return status.state == .online ? .success : .conflict
    }

    private func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        do { return try Waiting.wait(for: work) } catch { throw ClientFailure(url: url).explained(error) }
    }

    private func json(_ conflict: OfflineConflict) -> JSONValue {
        let reason = if case .refused(let message) = conflict.reason { message } else { "changed" }
        return [
            "operation": .string(conflict.operation.rawValue), "id": .string(conflict.documentID.string),
            "old": conflict.old?.body.json ?? .null, "new": conflict.new?.body.json ?? .null,
            "server": conflict.server?.json ?? .null, "reason": .string(reason),
        ]
    }

    private func show(_ conflict: OfflineConflict) throws {
        let operation = console.styled(conflict.operation.rawValue, JournalTable.style(of: conflict.operation.rawValue))
        try console.print("\(operation) \(console.styled(conflict.documentID.string, .bold)) was refused")
        if case .refused(let message) = conflict.reason { try console.print("  " + TextWidth.harmless(message)) }
        let rows = [
            ("was", conflict.old?.body), ("mine", conflict.new?.body), ("theirs", conflict.server),
        ].map { ($0.0, TextWidth.harmless($0.1?.description ?? "no document")) }
        for line in Columns.aligned(rows, indent: 2) { try console.print(line) }
    }

    /// Shows a refused operation and prompts on the terminal.
    func ask(_ conflict: OfflineConflict) throws -> Decision {
        try show(conflict)
        while true {
            try console.output.write("keep (m)ine, take (t)heirs, (e)dit, (s)kip? ")
            try console.output.flush()
            let answer = readLine()
            try Interruption.check()
            switch answer?.first {
            case "m": return .mine
            case "t": return .theirs
            case "e": return try edited(conflict)
            case "s", nil: return .skip
            default: continue
            }
        }
    }

    private func edited(_ conflict: OfflineConflict) throws -> Decision {
        let body = conflict.new?.body ?? conflict.server ?? .empty
        let file = try TextEditor(body.json.prettyPrinted + "\n")
        while true {
            do { return .edit(try DocumentBody(parsing: try file.edit()), file) } catch {
                let failure = CommandError(error)
                guard failure.status == .refused, TextEditor.wantsAnotherTry(after: failure, console) else {
                    throw TextEditor.keeping([file], after: failure)
                }
            }
        }
    }
}
