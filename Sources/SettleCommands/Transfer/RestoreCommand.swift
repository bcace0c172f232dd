internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
internal import SettleImport
internal import SettlePlatform
import SettlePostgres
internal import SettleServer

/// `settle restore`: restores a moment of a backup.
enum RestoreCommand: Command {
    static let spec = CommandSpec(
        "restore", "restore a backup of settle backup",
        discussion: """
            Restores the databases and server.json of a moment in DIR into FOLDER: the newest moment, or the one of \
            --at. FOLDER must not have any of the databases, or the settings of a server. All files are compared with \
            their digests first, and each database is verified at the end. With --postgres the databases go into a \
            PostgreSQL.

            A restore that fails or is interrupted deletes nothing. The message names the database that is incomplete, \
            and the commands that delete what is there, so that the restore can be repeated.

            Update sequences get a new suffix, so that readers of changes start over. Documents of _replicator are \
            restored too: a server of FOLDER starts these replications.
            """,
        operands: [
            Operand("DIR", "the folder of the backups"),
            Operand("FOLDER", isOptional: true, "the folder of a new server; none with --postgres"),
        ],
        options: [
            Option(
                "--at", value: "TIME", "the newest moment up to this time (UTC): 2026-11-26T18:00, or a moment's name"),
            Option("--database", value: "NAME", "only this database"),
        ] + PostgresOptions.options,
        examples: [
            CommandSpec.Example(
                "settle restore /backup/settle data", "restores the newest moment, for settle serve --data data"),
            CommandSpec.Example(
                "settle restore /backup/settle old --at 2026-11-26T18:00 --database notes",
                "restores one database as it was in the evening"),
        ],
        json: #"{"ok":true,"moment":text,"databases":N,"revisions":N}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        Interruption.watch()
        let (arguments, console) = (invocation.arguments, invocation.console)
        let folder = try BackupFolder(try arguments.operand("DIR"))
        let moment = try folder.moment(at: arguments.text("--at"))
        let wanted = arguments.text("--database")
        let entries = moment.databases.filter { wanted == nil || $0.name == wanted }
        guard !entries.isEmpty || wanted == nil else {
            throw CommandError.notFound("the backup of \(moment.name) has no database \"\(wanted ?? "")\"")
        }
        let store = try store(arguments)
        let server = wanted == nil ? moment.server : nil
        let files = entries.flatMap { $0.entry.documents + [$0.entry.locals] } + [server].compactMap(\.self)
        for file in files {
            if let problem = folder.problem(of: file) {
                throw CommandError("corrupt", "nothing was restored: \(problem)", status: .damaged)
            }
        }
        let record = store.serverRecord()
        try record.reserve()
        defer { record.release() }
        let old = try record.read()
        if server != nil, old != nil, entries.count == moment.databases.count, !store.isShared {
            throw CommandError(
                "exists", "\(store.place) has the settings of a server; give a new folder", status: .conflict)
        }
        for (name, _) in entries where try store.contains(name) {
            throw CommandError(
                "exists",
                """
                there is a database "\(name)" at \(store.place); give a new place. If a restore that did not finish \
                has left it there, delete it with `\(drop(name, in: store))`, and repeat
                """, status: .conflict)
        }
        let bar = ProgressBar(console)
        defer { bar.finish() }
        var (revisions, done) = (0, [String]())
        do {
            for (index, (name, entry)) in entries.enumerated() {
                try Interruption.check()
                bar.update("Restoring", fraction: Double(index) / Double(entries.count), name)
                revisions += try restore(name, entry, folder, try store.create(name), console)
                done.append(name)
            }
            if let server {
                _ = try record.write(
                    try ByteInput.open("\(folder.path)/\(server.path)").readAll(), replacing: old?.version)
            }
        } catch {
            let next = entries.dropFirst(done.count).first?.name
            let begun = next.flatMap { (try? store.contains($0)) == true ? $0 : nil }
            throw failure(CommandError(error), begun: begun, done: done, in: store)
        }
        bar.finish()
        try console.print(
            "Restored \(Quantity.of(entries.count, "database")) with \(Quantity.of(revisions, "revision")) as of \(moment.name)",
            json: [
                "ok": true, "moment": .string(moment.name), "databases": .number(JSONNumber(entries.count)),
                "revisions": .number(JSONNumber(revisions)),
            ])
        return .success
    }

    /// Restores a database; returns how many revisions were stored.
    private static func restore(
        _ name: String, _ entry: BackupMoment.Entry, _ folder: BackupFolder, _ database: Database, _ console: Console
    ) throws -> Int {
        defer { database.close() }
        // The limit is set first, so that no revision of the backup is dropped.
        if let limit = entry.revisionLimit { try database.setRevisionLimit(limit) }
        var count = 0
        for file in entry.documents + [entry.locals] {
            let input = try ByteInput.open("\(folder.path)/\(file.path)")
            var problem: ImportFailure?
            let importer = RecordImporter(DatabaseImportStore(database), options: RecordImporter.Options()) {
                problem = problem ?? $0
            }
            try importer.run(RecordReader(.json) { try input.read() }) { _ in }
            if let problem {
                throw CommandError("corrupt", "\(name): \(file.path): \(problem.description)", status: .damaged)
            }
            count += importer.counts.revisions
        }
        let server = try InProcessServer(database, path: name, console: console)
        let client = try Client(server, path: name, console: console)
        if entry.security != .object(JSONObject()) { try client.json("PUT", "_security", body: entry.security) }
        let report = try database.verify()
        guard report.isSound else {
            throw CommandError("corrupt", "\(name) is damaged: \(report.problems[0])", status: .damaged)
        }
        return count
    }

    /// The failure of a restore, with what it has left and how to delete that.
    private static func failure(
        _ error: CommandError, begun: String?, done: [String], in store: any ServerStore
    ) -> CommandError {
        let left = [begun].compactMap(\.self) + done
        if left.isEmpty { return error }
        let what = begun.map { "the database \"\($0)\"" } ?? "the restore"
        // The databases of a large server would fill the screen.
        let shown = left.prefix(8)
        let drops = shown.map { drop($0, in: store) }.joined(separator: " && ")
        let others = left.count - shown.count
        let rest = others == 0 ? "" : " and \(Quantity.of(others, "other database")) likewise"
        return CommandError(
            error.code,
            """
            \(error.message). At \(store.place) \(what) is incomplete; delete what was restored with \
            `\(drops)`\(rest), and repeat the restore
            """, status: error.status)
    }

    /// The command that deletes a database: in a folder, or through any server of the PostgreSQL.
    private static func drop(_ name: String, in store: any ServerStore) -> String {
        let place =
            store.isShared
            ? "http://ADMIN@HOST:5984/\(PercentCoding.encode(name))"
            : "\(store.place)/\(DocumentStore.stem(of: name))\(DocumentStore.suffix)"
        return "settle drop \(store.isShared ? place : ShellWords.typed(place))"
    }

    private static func store(_ arguments: Arguments) throws -> any ServerStore {
        let folder = arguments.optionalOperand("FOLDER")
        guard let configuration = try PostgresOptions.configuration(arguments, verb: spec.name) else {
            guard let folder else { throw CommandError.usage("FOLDER is missing", verb: spec.name) }
            return try DocumentStore(path: folder)
        }
        guard folder == nil else { throw CommandError.usage("give FOLDER or --postgres", verb: spec.name) }
        return try PostgresStore(configuration)
    }
}
