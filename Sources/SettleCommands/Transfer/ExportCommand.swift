internal import Settle

/// `settle export`: writes all documents of a database.
enum ExportCommand: Command {
    static let spec = CommandSpec(
        "export", "write all documents with their revisions, as JSON lines or for other products",
        discussion: """
            Each leaf revision is a line, with its history and its attachments; conflicts and tombstones too. `settle \
            import` restores the same documents: same revisions, same winners, same bytes. Bodies of other revisions \
            are not exported. A file gets its name when it is complete; a symbolic link is followed, and a device or a pipe \
            is written into. An export is the state at one point in time, unless a server's database is written to \
            throughout; a warning then says so. A table of a server's database may have states of several moments.
            --as couchbackup and --as pouchdb write what couchrestore and PouchDB's load read: with histories, conflicts, \
            tombstones and attachments, without local documents. `settle import` reads each of them.
            --csv, or --as csv, writes a table of the documents as apps see them, without design documents: nested members by their \
            paths, lists as JSON. It has no types and no revisions, so it is not a backup.
            """,
        operands: [.database, Operand("FILE", isOptional: true, "the file; - or nothing for standard output")],
        options: [
            Option("--winners-only", "only the winner of each document"),
            Option("--no-deleted", "exclude tombstones"),
            Option("--local", "include the local documents"),
            Option(
                "--as", value: "FORM",
                "the form: \(ExportForm.allCases.map(\.rawValue).joined(separator: ", ")) (default ndjson)"),
            .csv, .csvFields,
        ],
        examples: [
            CommandSpec.Example("settle export groceries groceries.jsonl", "a backup as text"),
            CommandSpec.Example("settle export groceries | gzip > groceries.jsonl.gz", "the same, compressed"),
            CommandSpec.Example(
                "settle export groceries --winners-only --no-deleted", "only the documents that an app sees"),
            CommandSpec.Example(
                "settle export groceries --as couchbackup | couchrestore --db groceries", "brings it into a CouchDB"),
            CommandSpec.Example(
                "settle export groceries --csv --fields _id,name,price groceries.csv", "a table for a spreadsheet"),
        ],
        json: """
            {"documents":N,"revisions":N,"attachments":N,"local":N,"bytes":N,"seconds":N}, on standard error when the \
            export goes to standard output. On standard error {"warning":text}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let path = invocation.arguments.optionalOperand("FILE").flatMap { $0 == "-" ? nil : $0 }
        Interruption.watch()
        let columns = try invocation.arguments.columns()
        let form = try invocation.arguments.choice("--as", ExportForm.ndjson)
        if form != .ndjson, invocation.arguments.flag("--local") {
            throw CommandError.usage("--local is for JSON lines, and not for --as \(form.rawValue)", verb: spec.name)
        }
        if form != .csv { try invocation.arguments.refuse("--as", with: "--csv") }
        if invocation.arguments.flag("--csv") || form == .csv {
            try invocation.arguments.refuse("--csv", with: "--local")
            return try invocation.withClient { client in
                let total = (try client.info()["doc_count"]?.int ?? 0, 0)
                return try export(total, to: path, invocation) { exporter, _, progress in
                    let missing = try exporter.runTable(client, columns: columns, progress: progress)
                    invocation.console.warn(ofMissing: missing)
                }
            }
        }
        if let remote = try invocation.remote() {
            let info = try remote.info()
            let total = (info["doc_count"]?.int ?? 0, info["doc_del_count"]?.int ?? 0)
            return try export(total, to: path, invocation) { exporter, options, progress in
                let end = try RemoteExport(remote: remote, options: options).run(exporter, progress: progress)
                if !end.isConsistent { warnOfWrites(to: remote.name, invocation.console) }
            }
        }
        return try invocation.withDatabase { database in
            let documents = try database.info().documents
            return try export((documents.live, documents.deleted), to: path, invocation) { exporter, _, progress in
                try exporter.run(database, progress: progress)
            }
        }
    }

    private static func warnOfWrites(to name: String, _ console: Console) {
        let text = """
            \(name) was written to throughout the export, so the export is not the state at one point in time; \
            repeat it when less is written
            """
        console.complain("settle: \(text)", json: ["warning": .string(text)])
    }

    private typealias Run = (Exporter, Exporter.Options, _ progress: @escaping (Exporter.Counts) -> Void) throws -> Void

    private static func export(
        _ count: (live: Int, deleted: Int), to path: String?, _ invocation: Invocation, _ run: Run
    ) throws -> ExitStatus {
        let arguments = invocation.arguments
        let console = invocation.console
        let total = max(count.live + (arguments.flag("--no-deleted") ? 0 : count.deleted), 1)
        let output = try path.map { try ByteOutput(path: $0) } ?? console.output
        let options = Exporter.Options(
            includesDeleted: !arguments.flag("--no-deleted"), includesConflicts: !arguments.flag("--winners-only"),
            includesLocal: arguments.flag("--local"), form: try arguments.choice("--as", .ndjson))
        let exporter = Exporter(to: output, options: options)
        let bar = ProgressBar(console)
        defer { bar.finish() }
        try run(exporter, options) { counts in
            bar.update(
                "Exporting", fraction: Double(counts.documents) / Double(total),
                """
                \(Quantity.grouped(counts.documents)) documents  \
                \(Quantity.rate(counts.documents, in: bar.elapsed))  \(Quantity.bytes(output.count))
                """)
        }
        try output.finish()
        bar.finish()
        try summarize(exporter.counts, bar.elapsed, output, isFile: path != nil, console)
        guard exporter.counts.damaged == 0 else {
            throw CommandError(
                "damaged_document",
                """
                the export is not whole: \(Quantity.of(exporter.counts.damaged, "damaged revision")) left out; \
                `settle verify` names the documents
                """, status: .damaged)
        }
        return .success
    }

    private static func summarize(
        _ counts: Exporter.Counts, _ elapsed: Duration, _ output: ByteOutput, isFile: Bool, _ console: Console
    ) throws {
        if console.isQuiet { return }
        let line =
            console.isJSON
            ? counts.json(elapsed, bytes: output.count).description : counts.summary(elapsed, bytes: output.count)
        if isFile { return try console.print(line) }
        if console.isJSON || console.errorTerminal.isTerminal {
            console.complain(line, json: counts.json(elapsed, bytes: output.count))
        }
    }
}
