internal import Settle
internal import SettleDatabase
internal import SettlePostgres

/// `settle copy`: copies a database exactly, from a folder to PostgreSQL or back.
enum CopyCommand: Command {
    static let spec = CommandSpec(
        "copy", "copy a database exactly, between a folder and PostgreSQL",
        discussion: """
            Positions of changes, local documents, settings and security stay as they are, so the checkpoints, bookmarks and \
            indexes of clients are true of the copy. SOURCE and TARGET are folders of databases, or postgres:NAME for a \
            database in the PostgreSQL of --postgres. TARGET must not be there, or be an interrupted copy of the same \
            database, which goes on.

            Nobody may change the source meanwhile: of a folder this command is the only user, and of a database in \
            PostgreSQL stop the servers first. At the end both are read and compared; only then the copy gets its name \
            in PostgreSQL. Without a standstill, replicate continuously and switch: settle sync.
            """,
        operands: [Operand("SOURCE", "folder, or postgres:NAME"), Operand("TARGET", "folder, or postgres:NAME")],
        options: PostgresOptions.options,
        examples: [
            CommandSpec.Example(
                "settle copy data/notes.settle postgres:notes --postgres 'host=127.0.0.1 dbname=settle user=settle_app' --postgres-password-file pw",
                "copies a folder into PostgreSQL"),
            CommandSpec.Example(
                "settle copy postgres:notes notes.settle --postgres 'host=127.0.0.1 dbname=settle user=settle_app' --postgres-password-file pw",
                "copies it back"),
        ],
        json: #"{"ok":true,"documents":N,"fingerprint":text}"#)

    private static let prefix = "postgres:"

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let (source, target) = (try arguments.operand("SOURCE"), try arguments.operand("TARGET"))
        guard source != target else { throw CommandError.usage("SOURCE and TARGET are the same", verb: spec.name) }
        if Invocation.isURL(source) || Invocation.isURL(target) {
            throw CommandError.usage(
                "a database at a URL is copied with `settle push` or `settle pull`", verb: spec.name)
        }
        let store = [source, target].contains { $0.hasPrefix(prefix) } ? try store(arguments) : nil
        let from = try name(of: source).map { try required(store).open($0) } ?? Database.open(source)
        defer { invocation.close(from) }
        let to = try name(of: target).map { try required(store).beginCopy($0) } ?? Database.openOrCreate(target)
        defer { invocation.close(to) }
        let console = invocation.console
        let bar = ProgressBar(console)
        let fingerprint = try bar.watch("Copying") { try from.copy(to: to, progress: $0) }
        if let name = name(of: target) { try required(store).endCopy(name) }
        let count = try from.info().documents.live
        try console.print(
            "Copied \(Quantity.of(count, "document")) from \(source) to \(target), and compared all",
            json: ["ok": true, "documents": .number(JSONNumber(count)), "fingerprint": .string(fingerprint)])
        return .success
    }

    private static func name(of operand: String) -> String? {
        operand.hasPrefix(prefix) ? String(operand.dropFirst(prefix.count)) : nil
    }

    private static func required(_ store: PostgresStore?) throws -> PostgresStore {
        guard let store else { throw CommandError.usage("--postgres is missing", verb: spec.name) }
        return store
    }

    private static func store(_ arguments: Arguments) throws -> PostgresStore {
        try PostgresStore(PostgresOptions.required(arguments, verb: spec.name))
    }
}
