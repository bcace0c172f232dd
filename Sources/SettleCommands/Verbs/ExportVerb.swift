internal import Settle

/// `settle export`: writes all documents of a database.
enum ExportVerb: Verb {
    static let guide = Guide(
        "export", "write all documents with their revisions, as JSON lines",
        discussion: """
            Each leaf revision is a line, with its history and its attachments; conflicts and tombstones too. `settle \
            import` makes the same documents of it: same revisions, same winners, same bytes. Bodies of revisions that \
            are no leaves are not exported. A file gets its name when it is whole.
            """,
        operands: [.database, Operand("FILE", isOptional: true, "the file; - or nothing for standard output")],
        options: [
            Option("--winners-only", "only the winner of each document"),
            Option("--no-deleted", "leave tombstones out"),
            Option("--local", "with the local documents"),
        ],
        examples: [
            Guide.Example("settle export groceries groceries.jsonl", "a backup as text"),
            Guide.Example("settle export groceries | gzip > groceries.jsonl.gz", "the same, compressed"),
            Guide.Example("settle export groceries --winners-only --no-deleted", "what an app sees"),
        ],
        json: """
            {"documents":N,"revisions":N,"attachments":N,"local":N,"bytes":N,"seconds":N}, on standard error when the \
            export goes to standard output
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let console = invocation.console
        let path = arguments.optionalOperand("FILE").flatMap { $0 == "-" ? nil : $0 }
        Interruption.watch()
        return try invocation.withDatabase { database in
            let documents = try database.info().documents
            let total = max(documents.live + (arguments.flag("--no-deleted") ? 0 : documents.deleted), 1)
            let partial = path.map { $0 + ".partial" }
            let output = try partial.map { try ByteOutput(path: $0) } ?? console.output
            let exporter = Exporter(
                database, to: output,
                options: Exporter.Options(
                    includesDeleted: !arguments.flag("--no-deleted"),
                    includesConflicts: !arguments.flag("--winners-only"), includesLocal: arguments.flag("--local")))
            let bar = ProgressBar(console)
            defer { bar.finish() }
            try run(exporter, bar, total, output)
            if let path, let partial {
                try output.synchronize()
                try ByteOutput.rename(partial, to: path)
            }
            bar.finish()
            try summarize(exporter.counts, bar.elapsed, output, isFile: path != nil, console)
            return .success
        }
    }

    /// An export that nobody reads to its end has failed, where other verbs just end.
    private static func run(_ exporter: Exporter, _ bar: ProgressBar, _ total: Int, _ output: ByteOutput) throws {
        do {
            try exporter.run { counts in
                bar.update(
                    "Exporting", fraction: Double(counts.documents) / Double(total),
                    """
                    \(Quantity.grouped(counts.documents)) documents  \
                    \(Quantity.rate(counts.documents, in: bar.elapsed))  \(Quantity.bytes(output.count))
                    """)
            }
        } catch let error as CommandError where error.code == CommandError.outputClosed.code {
            throw CommandError.inputOutput("the export is not whole: nobody reads it any more")
        }
    }

    private static func summarize(
        _ counts: ExportCounts, _ elapsed: Duration, _ output: ByteOutput, isFile: Bool, _ console: Console
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
