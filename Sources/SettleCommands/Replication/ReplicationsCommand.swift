internal import Settle
internal import SettleHTTP

/// `settle replications`: manages stored replications, which start again automatically.
enum ReplicationsCommand: Command {
    /// The actions of the command.
    enum Action: String, CaseIterable {
        case list, add, pause, resume, remove
    }

    static let spec = CommandSpec(
        "replications", "list, add, pause, resume and remove stored replications",
        discussion: """
            A stored replication outlives the process: a server starts it again automatically, and so does an app for its own \
            database. DB says who stores it.
            The URL of a server, http://localhost:5984, stands for its `_replicator` database: the server replicates from \
            one URL to another; CouchDB does too. The credentials it needs are written into the document, for administrators \
            to read: the password of each URL, or that of ~/.netrc. To pause a replication, its document is moved into \
            `_local/settle-replications`.
            The folder of a database stores replications between it and a URL; it is called `local` there. An app that \
            has the database open runs them, once it has called `resume`. The password is stored only with \
            --store-password.
            Pausing and removing leave documents and checkpoints as they are: added or resumed again, a replication \
            continues where it stopped. ID is that of the list; its beginning is enough.
            """,
        operands: [
            .action(Action.self),
            Operand("DB", takesURL: true, "who stores it: the folder of a database, or the URL of a server"),
            Operand("SOURCE", isOptional: true, takesURL: true, "to add: a URL, or `local`; else the ID"),
            Operand("TARGET", isOptional: true, takesURL: true, "to add: a URL, or `local`"),
        ],
        options: [
            Option("--continuous", short: "-c", "replicate continuously; otherwise once"),
            Option("--id", value: "ID", isRepeatable: true, "only this document"),
            Option("--selector", value: "JSON", "only documents that match this Mango selector"),
            Option("--filter", value: "NAME", "only what this filter of the source passes: designdoc/filter"),
            Option("--param", value: "NAME=VALUE", isRepeatable: true, "a parameter of the filter"),
            Option("--channel", value: "NAME", isRepeatable: true, "only this channel of a Sync Gateway"),
            ReplicationOptions.collection,
            Option("--create", "create the target if it does not exist"),
            Option("--name", value: "NAME", "the id of the document at a server; random by default"),
            Option("--store-password", "store the password in the database's folder"),
        ],
        examples: [
            CommandSpec.Example(
                "settle replications add notes local https://anna@couch.example/notes --continuous",
                "keeps a push, which an app starts"),
            CommandSpec.Example(
                "settle replications add http://admin@localhost:5984 https://couch.example/a http://localhost:5984/a -c",
                "has the server pull from another one, from now on"),
            CommandSpec.Example(
                "settle replications add http://admin@localhost:5984 wss://gateway.example/a http://localhost:5984/a -c",
                "has the server pull from a Sync Gateway"),
            CommandSpec.Example(
                "settle replications list http://admin@localhost:5984", "all of them, with their states"),
            CommandSpec.Example("settle replications pause notes 9f3c", "has the one whose ID begins so wait"),
            CommandSpec.Example("settle replications remove notes 9f3c", "forgets it; documents stay"),
        ],
        json: """
            of list, one line each: {"id":…,"source":…,"target":…,"continuous":bool,"state":…}, with "problem" where there \
            is one; of add, pause, resume and remove {"ok":true,"id":…}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let action = try invocation.arguments.action(Action.self)
        let place = try invocation.arguments.operand("DB")
        try check(invocation.arguments, action, isServer: Invocation.isURL(place))
        try checkServer(place)
        return try invocation.withClient(serverDatabase: KeptReplications.serverDatabase) { client in
            try run(action, KeptReplications(client: client, invocation: invocation), invocation)
        }
    }

    /// Refuses options and words that the action does not take.
    private static func check(_ arguments: Arguments, _ action: Action, isServer: Bool) throws {
        let ofAdd = spec.options.map(\.name).filter { $0 != Option.wait.name }
        if action != .add, let option = ofAdd.first(where: arguments.isGiven) {
            throw CommandError.usage("\(option) is for add, not for \(action.rawValue)", verb: spec.name)
        }
        if isServer, arguments.flag("--store-password") {
            throw CommandError.usage(
                "--store-password is for folders; a server stores the passwords anyway, so leave it out",
                verb: spec.name)
        }
        let surplus: String? =
            switch action {
            case .add: nil
            case .list: arguments.optionalOperand("SOURCE")
            case .pause, .resume, .remove: arguments.optionalOperand("TARGET")
            }
        if let surplus { throw CommandError.usage("\"\(surplus)\" is an unexpected argument", verb: spec.name) }
    }

    /// Refuses the URL of a database in which a server stores no replications.
    private static func checkServer(_ place: String) throws {
        guard Invocation.isURL(place) else { return }
        let url = try HTTPURL(place)
        let own = KeptReplications.serverDatabase
        guard let name = url.databaseName, name != own, !name.hasSuffix("/" + own) else { return }
        throw CommandError.usage(
            "a server stores no replications in \"\(name)\"; give the address of the server, \(url.parent), or of its "
                + "database \(own)", verb: spec.name)
    }

    private static func run(
        _ action: Action, _ keeper: KeptReplications, _ invocation: Invocation
    ) throws -> ExitStatus {
        switch action {
        case .list:
            let all = try keeper.all()
            for replication in all { try print(replication, invocation.console) }
            if all.isEmpty { try invocation.console.printNote("No replication is kept") }
        case .add: try report(try keeper.add(), "Added", invocation.console)
        case .pause: try change(keeper, "Paused", invocation) { try keeper.pause($0) }
        case .resume: try change(keeper, "Resumed", invocation) { try keeper.resume($0) }
        case .remove: try change(keeper, "Removed", invocation) { try keeper.remove($0) }
        }
        return .success
    }

    /// Changes the replication whose id begins with the given text.
    private static func change(
        _ keeper: KeptReplications, _ deed: String, _ invocation: Invocation,
        _ body: (String) throws -> Void
    ) throws {
        guard let given = invocation.arguments.optionalOperand("SOURCE"), !given.isEmpty else {
            throw CommandError.usage("ID is missing", verb: spec.name)
        }
        let all = try keeper.all().map(\.id)
        let fitting = all.contains(given) ? [given] : all.filter { $0.hasPrefix(given) }
        guard let id = fitting.first else {
            throw CommandError.notFound("no replication's ID begins with \"\(given)\"")
        }
        guard fitting.count == 1 else {
            throw CommandError.invalid("\(Quantity.of(fitting.count, "replication")) begin with \"\(given)\"; say more")
        }
        try body(id)
        try report(id, deed, invocation.console)
    }

    private static func report(_ id: String, _ deed: String, _ console: Console) throws {
        try console.print("\(deed) \(id)", json: ["ok": true, "id": .string(id)])
    }

    private static func print(_ replication: ReplicationsCommand.Kept, _ console: Console) throws {
        let problem = replication.problem.map { ": \($0)" } ?? ""
        let often = replication.isContinuous ? ", continuous" : ""
        try console.print(
            "\(console.styled(replication.id, .bold))  \(replication.source) → \(replication.target)"
                + "  \(replication.state)\(often)\(problem)",
            json: replication.json)
    }
}

extension ReplicationsCommand {
    /// A stored replication, as it is shown.
    struct Kept {
        let id: String
        let source: String
        let target: String
        let isContinuous: Bool
        let state: String
        /// The reason why the replication does not work.
        var problem: String?

        var json: JSONValue {
            var members: JSONObject = [
                "id": .string(id), "source": .string(source), "target": .string(target),
                "continuous": .bool(isContinuous),
                "state": .string(state),
            ]
            members["problem"] = problem.map(JSONValue.string)
            return .object(members)
        }
    }
}
