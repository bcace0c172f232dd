internal import Settle
import SettleDatabase
internal import SettlePlatform
import SettlePostgres

/// `settle renew`: gives databases new suffixes of their update sequences.
enum RenewCommand: Command {
    static let spec = CommandSpec(
        "renew", "give databases new update sequences, after a restore",
        discussion: """
            A database that was restored from an older copy continues to count its changes from there, and a client \
            that knows a later position would miss some of them. With a new suffix of the sequences the client starts \
            over. FOLDER is a database, or a folder of databases that no server has open, each called NAME.settle with \
            a valid name. With --postgres the command renews all databases in a PostgreSQL, whose servers must be \
            stopped.

            `settle restore` renews the sequences itself. So does a server that notices a restore: it finds another \
            file in place of a database's file, or other tables in a PostgreSQL. It can't notice a copy that was \
            written into the same file, or a PostgreSQL that was set back to a point in time.
            """,
        operands: [Operand("FOLDER", isOptional: true, "a database, or a folder of databases")],
        options: PostgresOptions.options,
        examples: [
            CommandSpec.Example(
                "settle renew data", "renews all databases of a server after their files were restored"),
            CommandSpec.Example(
                "settle renew --postgres 'host=127.0.0.1 dbname=settle user=settle_app' --postgres-password-file pw",
                "after a recovery to a point in time"),
        ],
        json: #"{"ok":true,"databases":N}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let count = try renew(invocation)
        try invocation.console.print(
            "\(Quantity.of(count, "database")) \(count == 1 ? "has" : "have") new sequences",
            json: ["ok": true, "databases": .number(JSONNumber(count))])
        return .success
    }

    private static func renew(_ invocation: Invocation) throws -> Int {
        let arguments = invocation.arguments
        let folder = arguments.optionalOperand("FOLDER")
        if let configuration = try PostgresOptions.configuration(arguments, verb: spec.name) {
            guard folder == nil else { throw CommandError.usage("give FOLDER or --postgres", verb: spec.name) }
            return try PostgresStore(configuration).renewSequences()
        }
        guard let folder else { throw CommandError.usage("FOLDER is missing", verb: spec.name) }
        do {
            let database = try Database.open(folder)
            defer { invocation.close(database) }
            try database.renewInstance()
            return 1
        } catch let error as DatabaseError where error.code == .notFound || error.code == .notADatabase {
            // A store would create its folder.
            guard FileStatus(path: folder)?.isFolder == true else { throw error }
            try DatabaseFolders.checkNames(
                in: folder, "nothing was renewed", otherwise: "renew each database alone with `settle renew`")
            let store = try DocumentStore(path: folder)
            let names = try store.names()
            guard !names.isEmpty else { throw error }
            let record = store.serverRecord()
            try record.reserve()
            defer { record.release() }
            for name in names {
                let database = try store.open(name)
                defer { invocation.close(database) }
                try database.renewInstance()
            }
            return names.count
        }
    }
}
