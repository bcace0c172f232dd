internal import Foundation
internal import Settle
import SettleCore
import SettleImport
internal import SettlePlatform

/// `settle import`: stores the documents of a file.
enum ImportCommand: Command {
    static let spec = CommandSpec(
        "import", "store the documents of a file, a dump, or another product's database",
        discussion: """
            FILE is recognized by its content: JSON documents in lines, one after the other or in an array, as `settle export` \
            writes them; saved answers of CouchDB (_all_docs, _changes, _find, _local_docs, views) with include_docs=true; \
            files of couchbackup and of PouchDB's dumps; MongoDB's and Firestore's JSON; with --from realm what Realm Studio \
            writes; CSV; and the databases of other products, with all their revisions: `settle inspect` says what a file is \
            and holds. Texts may be gzip or UTF-16. \
            Any other input is refused, and nothing is created. The original is never changed.
            A document with _revisions or _rev is stored as that revision. Without one it is an edit, under its _id or a new \
            id. A failed document is reported with its line, and the others are stored; so is an attachment whose content is \
            missing. The exit code is then 1. What is there already is not stored again, so an interrupted import can be \
            repeated; only documents without ids get new ones each time.
            A missing database is created.
            CSV, as RFC 4180 describes it, has a header row with the names of the members, and comma, semicolon or tab \
            between cells: a file.csv, or any input with --csv. The column _id has the ids, a dot leads into an object \
            (address.city), and an empty cell is left out. A column in which all cells are numbers, true or false, or JSON \
            lists and objects has these values, unless --text is given; any other has texts. A name with blanks is quoted in \
            conditions: "Unit Price" > 2.
            """,
        operands: [
            .database,
            Operand("FILE", "the file, or the folder of a database or of a dump's parts; - for standard input"),
        ],
        options: ImportInput.options + [
            Option(
                "--id", value: "NAME", aliases: ["--id-member"],
                "take the id of a document without _id from this member or column"),
            Option(
                "--on-conflict", value: "HOW", "if a document exists: fail (default), overwrite or skip"),
            Option(
                "--collection", value: "SCOPE.NAME", isRepeatable: true,
                "of a database with collections: import this one; several go where --all-collections puts them"),
            Option(
                "--all-collections", "import the default collection into DB, and Shop.orders into DB+$shop+orders"),
            Option(
                "--keep-winner",
                "close the sides of a conflict that the old product hid from its app, with tombstones, which replicate"),
            Option(
                "--unsynced",
                "of a database: import only what the old app had not pushed to its server, as far as its file says; pull first"
            ),
            Option(
                "--synced-with", value: "URL",
                "with --unsynced: the URL that the old app synced with, by which Couchbase Lite 1.x names what it had pushed"
            ),
            Option(
                "--strict", "refuse a document whose attachment has no content; an import of a database ends there"),
            Option("--dry-run", "import nothing, and print what the input holds"),
            Option(
                "--check",
                "import nothing; check an SQLite file's structure, and compare the contents of all attachments with their digests"
            ),
            Option("--batch", value: "N", "write N documents per transaction (default 1000)"),
            Option("--stop-on-error", "stop at the first failure"),
            Option("--no-create", "fail if the database does not exist"),
        ],
        examples: [
            CommandSpec.Example("settle import groceries groceries.jsonl", "stores one document per line"),
            CommandSpec.Example("settle import people people.json --id email", "uses e-mail addresses as ids"),
            CommandSpec.Example("settle import people people.csv --id email", "stores each row of a table"),
            CommandSpec.Example(
                "settle import pets realm.json --from realm", "stores each object of Realm under its class and key"),
            CommandSpec.Example("settle import notes notes.cblite2", "takes over a database of Couchbase Lite"),
            CommandSpec.Example(
                "settle import notes notes.cblite2 --unsynced", "takes over only what the old app had not pushed"),
            CommandSpec.Example("settle import notes backup.txt.gz", "restores a file of couchbackup"),
            CommandSpec.Example(
                "settle export old - | settle import new -", "copies a database with all its revisions"),
        ],
        json: """
            of documents {"kind":…,"imported":N,"known":N,"skipped":N,"failed":N,"bytes":N,"seconds":N}, with "notes":[…] and \
            "lost_attachments":N if there are any; for each failure on standard error {"error":…,"message":…,"line":N}, \
            with "column":N or "id":… where known; of a database {"kind":…,"product":…,"documents":N,"leaves":N,"known":N,\
            "pushed":N,"conflicts":N,"tombstones":N,"attachments":N,"attachment_bytes":N,"local":N,"expirations":N,\
            "lost_revisions":N,"lost_attachments":N,"not_taken":[…],"other_winners":N,"other_winner_ids":[…],\
            "left_out":[…],"seconds":N}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        if !Invocation.isURL(try arguments.operand("DB")) { Interruption.watch() }
        let input = try ImportInput(try arguments.operand("FILE"), arguments)
        try refuseOptions(of: input.source, arguments)
        if arguments.flag("--dry-run") || arguments.flag("--check") {
            var options = try options(arguments)
            options.idAttribute = arguments.text("--id")
            _ = try input.source.pushRecord(for: options)
            return try Inspection(input, options, verifies: arguments.flag("--check")).run(invocation)
        }
        if case .dump(let records) = input.source.content {
            return try withStore(invocation, suffix: "") { store in
                try run(store, records, input, invocation)
            }
        }
        return try importCollections(input, invocation)
    }

    /// Refuses options that the kind of input has no use for.
    private static func refuseOptions(of source: ForeignDatabase, _ arguments: Arguments) throws {
        let (others, inputs) =
            if case .dump = source.content {
                (
                    ["--collection", "--all-collections", "--keep-winner", "--unsynced", "--synced-with"],
                    "databases of other products"
                )
            } else {
                (["--id", "--on-conflict", "--batch", "--stop-on-error"], "documents and dumps")
            }
        guard let option = others.first(where: arguments.isGiven) else { return }
        throw CommandError.usage("\(option) is for \(inputs), and the input is \(source.product)", verb: spec.name)
    }

    /// How a database of another product is imported, except for the collection.
    private static func options(_ arguments: Arguments) throws -> ImportOptions {
        let options = ImportOptions(
            keepsWinners: arguments.flag("--keep-winner"), isStrict: arguments.flag("--strict"),
            onlyUnpushed: arguments.flag("--unsynced"),
            syncedWith: try arguments.text("--synced-with").map { text in
                guard Invocation.isURL(text), let url = URL(string: text) else {
                    throw CommandError.usage("--synced-with takes a URL", verb: spec.name)
                }
                return url
            })
        if options.syncedWith != nil, !options.onlyUnpushed {
            throw CommandError.usage("--synced-with is for --unsynced", verb: spec.name)
        }
        return options
    }

    /// Opens or creates the destination.
    private static func withStore(
        _ invocation: Invocation, suffix: String, _ body: (any ImportStore) throws -> ExitStatus
    ) throws -> ExitStatus {
        let creates = !invocation.arguments.flag("--no-create")
        if let remote = try invocation.remote(suffix: suffix) {
            if creates { try remote.createUnlessThere() } else { _ = try remote.info() }
            return try body(RemoteImportStore(remote))
        }
        return try invocation.withDatabase(suffix: suffix, creates: creates) { try body(DatabaseImportStore($0)) }
    }
}

// MARK: - Dumps

extension ImportCommand {
    private static func run(
        _ store: any ImportStore, _ records: any RecordSource, _ input: ImportInput, _ invocation: Invocation
    ) throws -> ExitStatus {
        let (arguments, console) = (invocation.arguments, invocation.console)
        let options = RecordImporter.Options(
            batch: try arguments.count("--batch", atLeast: 1) ?? 1000, idAttribute: arguments.text("--id"),
            onConflict: try arguments.choice("--on-conflict", .fail), stopsOnError: arguments.flag("--stop-on-error"),
            isStrict: arguments.flag("--strict"))
        let bar = ProgressBar(console)
        let importer = RecordImporter(store, options: options) { failure in
            bar.finish()
            console.complain(failure.description, json: failure.json)
        }
        var isInterrupted = false
        do {
            try importer.run(records) { counts in
                let (done, total) = input.position()
                bar.update(
                    "Importing", fraction: total.map { Double(done) / Double(max($0, 1)) },
                    details(counts, bar.elapsed, done, total))
                try Interruption.check()
            }
        } catch let error as CommandError where error.status == .interrupted { isInterrupted = true }
        bar.finish()
        try summarize(importer.counts, importer.notes(of: records), input, bar.elapsed, console)
        if isInterrupted {
            let advice = options.idAttribute == nil ? ", but stores documents without ids, if there are any, twice" : ""
            throw interruption(after: importer.counts.total, advice)
        }
        return importer.counts.failed + importer.counts.lostAttachments > 0 ? .failure : .success
    }

    /// The error of an import that Ctrl-C has ended.
    private static func interruption(after count: Int, _ advice: String = "") -> CommandError {
        CommandError(
            CommandError.interrupted.code,
            "interrupted after \(Quantity.of(count, "document")), which are stored; the same command goes on\(advice)",
            status: .interrupted)
    }

    private static func summarize(
        _ counts: RecordImporter.Counts, _ notes: DumpNotes, _ input: ImportInput, _ elapsed: Duration,
        _ console: Console
    ) throws {
        let bytes = input.position().done
        guard !console.isJSON else {
            let json = counts.json(of: input.source.kind, notes, seconds: elapsed.inSeconds, bytes: bytes)
            return try console.print(JSONValue.object(json).description)
        }
        try console.printNote(counts.summary(elapsed, bytes: bytes))
        for text in notes.texts { try console.printNote(text) }
    }

    private static func details(
        _ counts: RecordImporter.Counts, _ elapsed: Duration, _ done: Int64, _ total: Int64?
    ) -> String {
        let size = total.map { " of \(Quantity.bytes($0))" } ?? ""
        return """
            \(Quantity.grouped(counts.total)) documents  \(Quantity.rate(counts.total, in: elapsed))  \
            \(Quantity.bytes(done))\(size)
            """
    }
}

extension RecordImporter.Counts {
    /// The counts as text.
    func summary(_ duration: Duration, bytes: Int64) -> String {
        let noun = revisions > 0 ? "revision" : "document"
        var text = "Imported \(Quantity.of(stored, noun)) in \(Quantity.duration(duration))"
        if stored > 0 { text += " (\(Quantity.rate(stored, in: duration)), \(Quantity.bytes(bytes)))" }
        if known > 0 { text += "; \(Quantity.grouped(known)) known already" }
        if skipped > 0 { text += "; \(Quantity.grouped(skipped)) skipped" }
        if failed > 0 { text += "; \(Quantity.grouped(failed)) failed" }
        if lostAttachments > 0 { text += "; \(Quantity.of(lostAttachments, "attachment")) without content" }
        return text
    }
}

extension ImportFailure {
    /// The place and the cause, as text.
    var description: String {
        "\(file.map { "\($0), " } ?? "")line \(line)" + (column.map { ", column \($0)" } ?? "")
            + ": \(CommandError(error).message)"
    }

    /// The place and the cause, as JSON.
    var json: JSONValue {
        let error = CommandError(error)
        return json(error: error.code, message: error.message)
    }
}

// MARK: - Databases

extension ImportCommand {
    /// Imports the wanted collections of another product's database, each into its own.
    private static func importCollections(_ input: ImportInput, _ invocation: Invocation) throws -> ExitStatus {
        let (arguments, console) = (invocation.arguments, invocation.console)
        let all = input.source.collections
        let given = arguments.texts("--collection")
        for name in given where !all.contains(name) {
            throw CommandError.notFound("there is no collection \(name); there are \(all.joined(separator: ", "))")
        }
        let wanted = arguments.flag("--all-collections") ? all : given.isEmpty ? Array(all.prefix(1)) : given
        let options = try options(arguments)
        // What is refused is refused before a database is created.
        _ = try input.source.pushRecord(for: options)
        var status = ExitStatus.success
        for name in wanted {
            let isSole = wanted.count == 1 && !arguments.flag("--all-collections")
            let suffix = isSole || name == all.first ? "" : ForeignDatabase.databaseName(of: name, in: "")
            guard let suffix else { throw CommandError.invalid("\(name) can't be the name of a database") }
            let outcome = try withStore(invocation, suffix: suffix) {
                try importOne(name, $0, input, options, invocation)
            }
            if outcome != .success { status = outcome }
        }
        let others = all.filter { !wanted.contains($0) }
        if !others.isEmpty, !console.isQuiet {
            let text = "not imported: \(others.joined(separator: ", ")); --all-collections takes all"
            console.complain("settle: \(text)", json: ["warning": .string(text)])
        }
        return status
    }

    private static func importOne(
        _ name: String, _ store: any ImportStore, _ input: ImportInput, _ options: ImportOptions,
        _ invocation: Invocation
    ) throws -> ExitStatus {
        let console = invocation.console
        var options = options
        options.collection = name
        let bar = ProgressBar(console)
        defer { bar.finish() }
        var count = 0
        let report: ImportReport
        do {
            report = try input.source.importAll(into: store, options: options) { progress in
                count = progress.documents
                bar.update("Importing", fraction: progress.fraction, progress.details(bar.elapsed))
                try Interruption.check()
            }
        } catch let error as CommandError where error.status == .interrupted { throw interruption(after: count) }
        bar.finish()
        if console.isJSON {
            let collection = input.source.collections.count > 1 ? name : nil
            let json = report.json(of: collection, seconds: bar.elapsed.inSeconds)
            try console.print(JSONValue.object(json).description)
        } else {
            if input.source.collections.count > 1 { try console.printNote("Collection \(name)") }
            try console.printNote(report.description)
        }
        return report.isWhole ? .success : .failure
    }
}

extension ImportProgress {
    /// What was read, for a progress bar.
    func details(_ elapsed: Duration) -> String {
        """
        \(Quantity.grouped(documents)) documents  \(Quantity.rate(documents, in: elapsed))  \
        \(Quantity.bytes(attachmentBytes)) of attachments
        """
    }
}
