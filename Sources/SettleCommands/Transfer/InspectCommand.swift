internal import Settle
import SettleImport

/// `settle inspect`: says what a file is, and what it holds.
enum InspectCommand: Command {
    static let spec = CommandSpec(
        "inspect", "say what a file, a dump or another product's database is and holds",
        discussion: """
            FILE is what `settle import` takes, and nothing is stored or changed. Documents, leaf revisions, conflicts, \
            tombstones and attachments are counted by reading all of it, and what an import would not take is listed; the \
            exit code is then 1. In a dump each revision counts as a document, and conflicts are not counted.
            """,
        operands: [Operand("FILE", "the file, or the folder of a database or of a dump's parts; - for standard input")],
        options: ImportInput.options + [
            Option(
                "--check",
                "check an SQLite file's structure, and compare the contents of all attachments with their digests")
        ],
        examples: [
            CommandSpec.Example("settle inspect notes.cblite2", "shows the version and the counts"),
            CommandSpec.Example("settle inspect backup.txt --json", "the same, for a script"),
        ],
        json: "the JSON of `settle import` for a database, a line for each collection; of a dump \"conflicts\" is null")

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        Interruption.watch()
        let input = try ImportInput(try arguments.operand("FILE"), arguments)
        return try Inspection(input, verifies: arguments.flag("--check")).run(invocation)
    }
}

/// A reading of an input that stores nothing.
struct Inspection {
    private let input: ImportInput
    private let options: ImportOptions
    private let verifies: Bool

    init(_ input: ImportInput, _ options: ImportOptions = ImportOptions(), verifies: Bool) {
        (self.input, self.options, self.verifies) = (input, options, verifies)
    }

    /// Reads all collections, and prints what each holds.
    func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let scratch = try ScratchDatabase(inMemory: false)
        let bar = ProgressBar(console)
        defer { bar.finish() }
        var status = ExitStatus.success
        let collections = input.source.collections
        for name in collections {
            var options = options
            options.collection = name
            let report = try input.source.inspect(options, verifies: verifies, scratch: scratch.database) { progress in
                bar.update("Reading", fraction: progress.fraction, progress.details(bar.elapsed))
                try Interruption.check()
            }
            bar.finish()
            if !report.isWhole { status = .failure }
            if console.isJSON {
                let json = report.json(of: collections.count > 1 ? name : nil)
                try console.print(JSONValue.object(json).description)
            } else {
                if collections.count > 1 { try console.print("Collection \(name)") }
                try console.print(report.description.replacing("Imported ", with: "Holds    "))
            }
        }
        return status
    }
}
