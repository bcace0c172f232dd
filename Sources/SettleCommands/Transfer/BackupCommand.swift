internal import Settle
import SettleCore
import SettlePlatform

/// `settle backup`: copies a whole server into a folder. Later backups read only what was changed since the last one.
enum BackupCommand: Command {
    static let spec = CommandSpec(
        "backup", "back up a whole server, while it runs",
        discussion: """
            SOURCE is the URL of a server and an administrator, or a folder of databases that no server has open. DIR gets \
            a moment: all databases with their conflicts, tombstones, attachments, local documents and security, the users \
            among them, and server.json. A second backup into DIR adds a moment and reads only what was changed since the \
            last one; each moment can be restored. Each database is the state of one point of time.

            The files are what `settle export` writes. Other bodies than those of leaves, indexes, and dates to expire are not \
            in a backup. `settle verify DIR` compares all files with their digests, and `settle restore` restores a moment.
            """,
        operands: [Operand("SOURCE", "URL of a server, or folder"), Operand("DIR", "the folder of the backups")],
        options: [
            Option("--full", "read everything, and not only what was changed since the last backup"),
            Option("--keep", value: "N", "afterwards remove all moments but the newest N"),
        ] + RemoteOptions.options,
        examples: [
            CommandSpec.Example(
                "SETTLE_PASSWORD=secret settle backup http://admin@127.0.0.1:5984 /backup/settle",
                "backs up a running server"),
            CommandSpec.Example("settle backup data /backup/settle", "the folder of a server that was stopped"),
            CommandSpec.Example(
                "settle backup https://admin@db.example /backup/settle --password-file pw --full --keep 4",
                "a full backup once a week, which removes old ones"),
        ],
        json: #"{"ok":true,"moment":text,"databases":N,"documents":N,"bytes":N,"consistent":bool,"removed":N}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        Interruption.watch()
        let (arguments, console) = (invocation.arguments, invocation.console)
        let keep = try arguments.count("--keep", atLeast: 1)
        let source = try BackupSource(try arguments.operand("SOURCE"), invocation)
        let folder = try BackupFolder(creating: try arguments.operand("DIR"))
        let before = arguments.flag("--full") ? nil : try folder.moments().last
        let run = try BackupRun(source, folder, before: before, named: name(after: try folder.moments().last), console)
        let moment = try run.run()
        let removed = try keep.map { try folder.keep($0) } ?? 0
        let isConsistent = moment.databases.allSatisfy(\.entry.isConsistent)
        if !isConsistent {
            console.complain(
                "some databases were written to all the time: they are not the state of one point of time",
                json: ["warning": "not consistent"])
        }
        try console.print(
            """
            Backed up \(Quantity.of(moment.databases.count, "database")): \(Quantity.of(run.documents, "changed document")), \
            \(Quantity.bytes(run.bytes)), as \(moment.name)
            """,
            json: [
                "ok": true, "moment": .string(moment.name), "databases": .number(JSONNumber(moment.databases.count)),
                "documents": .number(JSONNumber(run.documents)), "bytes": .number(JSONNumber(run.bytes)),
                "consistent": .bool(isConsistent), "removed": .number(JSONNumber(removed)),
            ])
        guard run.damaged == 0 else {
            throw CommandError(
                "damaged_document",
                """
                the backup is not whole: \(Quantity.of(run.damaged, "damaged revision")) left out; `settle verify` of the \
                database names the documents
                """, status: .damaged)
        }
        return .success
    }

    /// The name of a new moment. It sorts after the last one even if the clock was set back.
    private static func name(after last: BackupMoment?) -> String {
        let now = WallTime.now().precise.filter { $0 != "-" && $0 != ":" }
        guard let last, last.name >= now else { return now }
        return last.name.dropLast() + "aZ"
    }
}
