internal import Settle
import SettleCore
import SettlePlatform

/// `settle backup`: copies a whole server into a folder. Later backups read only what was changed since the last one.
enum BackupCommand: Command {
    static let spec = CommandSpec(
        "backup", "back up a whole server, while it runs",
        discussion: """
            SOURCE is the URL of a server with an administrator's name, or a folder of databases that no server has \
            open. The backup adds a moment to DIR: all databases, with their conflicts, tombstones, attachments, \
            local documents and security, including the users, and server.json. A later backup into DIR reads only \
            what was changed since the last one. Every moment can be restored. Each database is saved as it was at \
            one point in time. In a folder each must be called NAME.settle, with a valid name; otherwise nothing is \
            backed up.

            The files are what `settle export` writes. A backup has no bodies of old revisions, no indexes and no dates to \
            expire. `settle verify DIR` compares all files with their digests, and `settle restore` restores a moment.

            At the end each database gets the local document _local/settle-backup, from which the web console shows how old \
            the last backup is. Where the user may not write it, that is only reported. No backup and no export contains it.
            """,
        operands: [Operand("SOURCE", "URL of a server, or folder"), Operand("DIR", "the folder of the backups")],
        options: [
            Option("--full", "read everything, not only what was changed since the last backup"),
            Option("--keep", value: "N", "afterwards remove all moments but the newest N"),
        ] + RemoteOptions.options,
        examples: [
            CommandSpec.Example(
                "SETTLE_PASSWORD=secret settle backup http://admin@127.0.0.1:5984 /backup/settle",
                "backs up a running server"),
            CommandSpec.Example("settle backup data /backup/settle", "backs up the folder of a stopped server"),
            CommandSpec.Example(
                "settle backup https://admin@db.example /backup/settle --password-file pw --full --keep 4",
                "a full backup once a week, which removes old ones"),
        ],
        json: """
            {"ok":bool,"moment":text,"databases":N,"documents":N,"bytes":N,"consistent":bool,"damaged":N,"removed":N}; \
            damaged is the number of damaged revisions that were left out, and ok is false if there are any
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        Interruption.watch()
        let (arguments, console) = (invocation.arguments, invocation.console)
        let keep = try arguments.count("--keep", atLeast: 1)
        let source = try BackupSource(try arguments.operand("SOURCE"), invocation)
        let folder = try BackupFolder(creating: try arguments.operand("DIR"))
        let before = arguments.flag("--full") ? nil : try folder.moments().last
        let run = try BackupRun(source, folder, before: before, named: name(after: try folder.moments().last), console)
        let moment = try run.run()
        // The older moments may be the only ones that have what is damaged now.
        let removed = try run.damaged == 0 ? keep.map { try folder.keep($0) } ?? 0 : 0
        let isConsistent = moment.databases.allSatisfy(\.entry.isConsistent)
        if !isConsistent {
            console.complain(
                "some databases were written to throughout the backup, so they are not the state at one point in time",
                json: ["warning": "not consistent"])
        }
        try console.print(
            """
            Backed up \(Quantity.of(moment.databases.count, "database")): \(Quantity.of(run.documents, "changed document")), \
            \(Quantity.bytes(run.bytes)), as \(moment.name)
            """,
            json: [
                "ok": .bool(run.damaged == 0), "moment": .string(moment.name),
                "databases": .number(JSONNumber(moment.databases.count)),
                "documents": .number(JSONNumber(run.documents)), "bytes": .number(JSONNumber(run.bytes)),
                "consistent": .bool(isConsistent), "damaged": .number(JSONNumber(run.damaged)),
                "removed": .number(JSONNumber(removed)),
            ])
        guard run.damaged == 0 else {
            throw CommandError(
                "damaged_document",
                """
                the backup is not whole: \(Quantity.of(run.damaged, "damaged revision")) left out; `settle verify` of the \
                database names the documents\(keep == nil ? "" : "; no older moment was removed")
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
