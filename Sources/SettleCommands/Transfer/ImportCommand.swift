internal import Settle
import SettleCore
import SettleDatabase

/// `settle import`: stores the documents of a file.
enum ImportCommand: Command {
    static let spec = CommandSpec(
        "import", "store the documents of a JSON or CSV file",
        discussion: """
            The input is JSON lines, one array of documents, or {"docs":[…]}, of any length. A document with \
            _revisions or _rev is stored as that revision, as written by `settle export` and CouchDB. Without one it \
            is an edit, under its _id or a new id. A failed document is reported with its line, and the others are \
            stored; the exit code is then 1.
            A missing database is created.
            CSV, as RFC 4180 describes it, has a header row with the names of the members: a file.csv, or any input with \
            --csv. The column _id has the ids, a dot leads into an object (address.city), and an empty cell is left out. \
            Numbers, true, false and JSON lists and objects are recognized, unless --text is given.
            """,
        operands: [.database, Operand("FILE", "the file; - for standard input")],
        options: [
            Option(
                "--id", value: "NAME", aliases: ["--id-member"],
                "take the id of a document without _id from this member or column"),
            Option("--csv", "the input is CSV; of a FILE that ends in .csv it is without this option"),
            Option("--text", "of CSV: store every cell as a text"),
            Option(
                "--on-conflict", value: "HOW", "if a document exists: fail (default), overwrite or skip"),
            Option("--batch", value: "N", "write N documents per transaction (default 1000)"),
            Option("--stop-on-error", "stop at the first failure"),
            Option("--no-create", "fail if the database does not exist"),
        ],
        examples: [
            CommandSpec.Example("settle import groceries groceries.jsonl", "stores one document per line"),
            CommandSpec.Example("settle import people people.json --id email", "uses e-mail addresses as ids"),
            CommandSpec.Example("settle import people people.csv --id email", "stores each row of a table"),
            CommandSpec.Example(
                "settle export old - | settle import new -", "copies a database with all its revisions"),
        ],
        json: """
            {"imported":N,"known":N,"skipped":N,"failed":N,"bytes":N,"seconds":N}; for each failure on standard error \
            {"error":…,"message":…,"line":N}, with "column":N or "id":… where known
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let console = invocation.console
        let path = try arguments.operand("FILE")
        let options = Importer.Options(
            batch: try arguments.count("--batch", atLeast: 1) ?? 1000, idMember: arguments.text("--id"),
            onConflict: try arguments.choice("--on-conflict", .fail), stopsOnError: arguments.flag("--stop-on-error"))
        let input = try ByteInput.open(path)
        let isCSV = arguments.flag("--csv") || path.lowercased().hasSuffix(".csv")
        if arguments.flag("--text"), !isCSV { throw CommandError.usage("--text is for CSV", verb: spec.name) }
        let source: any RecordSource =
            isCSV
            ? CSVReader(takesTypes: !arguments.flag("--text")) { try input.read() } : RecordReader { try input.read() }
        let creates = !arguments.flag("--no-create")
        if let remote = try invocation.remote() {
            if creates { try remote.createUnlessThere() } else { _ = try remote.info() }
            return try run(RemoteImportStore(remote), options, source, input, console)
        }
        Interruption.watch()
        return try invocation.withDatabase(creates: creates) {
            try run(LocalImportStore($0), options, source, input, console)
        }
    }

    private static func run(
        _ store: any ImportStore, _ options: Importer.Options, _ source: any RecordSource, _ input: ByteInput,
        _ console: Console
    ) throws -> ExitStatus {
        let bar = ProgressBar(console)
        let importer = Importer(store, options: options) { failure in
            bar.finish()
            console.complain(failure.description, json: failure.json)
        }
        var interruption: CommandError?
        do {
            try importer.run(source) { counts in
                bar.update(
                    "Importing", fraction: input.size.map { Double(input.count) / Double(max($0, 1)) },
                    details(counts, bar.elapsed, input))
            }
        } catch let error as CommandError where error.status == .interrupted { interruption = error }
        bar.finish()
        let counts = importer.counts
        let elapsed = bar.elapsed
        if console.isJSON {
            try console.print(counts.json(elapsed, bytes: input.count).description)
        } else {
            try console.printNote(counts.summary(elapsed, bytes: input.count))
        }
        if let interruption { throw interruption }
        return counts.failed > 0 ? .failure : .success
    }

    private static func details(_ counts: Importer.Counts, _ elapsed: Duration, _ input: ByteInput) -> String {
        let size = input.size.map { " of \(Quantity.bytes($0))" } ?? ""
        return """
            \(Quantity.grouped(counts.total)) documents  \(Quantity.rate(counts.total, in: elapsed))  \
            \(Quantity.bytes(input.count))\(size)
            """
    }
}

/// The destination of an import.
protocol ImportStore {
    /// Stores the attachments of the input.
    var attachmentImporter: AttachmentImporter { get }

    /// Runs a closure in one transaction, if the destination supports that.
    func transaction(_ body: () throws -> Void) throws

    /// Stores documents as edits.
    func save(_ documents: [Document], onConflict conflict: Importer.Conflict) throws -> [Importer.Outcome]

    /// Stores revisions with their histories.
    func insert(_ revisions: [ReplicatedRevision]) throws -> [Importer.Outcome]

    /// Stores a local document.
    func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws
}

/// Stores documents in a database on this machine.
struct LocalImportStore: ImportStore {
    private let database: Database
    let attachmentImporter: AttachmentImporter

    init(_ database: Database) {
        self.database = database
        attachmentImporter = AttachmentImporter(database)
    }

    func transaction(_ body: () throws -> Void) throws { try database.transaction(body) }

    func save(_ documents: [Document], onConflict conflict: Importer.Conflict) throws -> [Importer.Outcome] {
        try database.saveAll(documents, onConflict: conflict == .overwrite ? .lastWriteWins : .fail).map { result in
            switch result {
            case .success: .stored
            case .failure(let error as DatabaseError) where error.code == .conflict && conflict == .skip: .skipped
            case .failure(let error): .failed(error)
            }
        }
    }

    func insert(_ revisions: [ReplicatedRevision]) throws -> [Importer.Outcome] {
        try database.insertReplicated(revisions).map { outcome in
            switch outcome {
            case .stored: .stored
            case .known: .known
            case .refused(let error): .failed(error)
            }
        }
    }

    func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws { try database.saveLocalDocument(id, body: body) }
}
