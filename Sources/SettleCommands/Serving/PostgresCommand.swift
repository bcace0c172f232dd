internal import Settle
internal import SettlePostgres

/// `settle postgres`: prepares a PostgreSQL database for servers.
enum PostgresCommand: Command {
    static let spec = CommandSpec(
        "postgres", "prepare a PostgreSQL for the servers of settle serve --postgres",
        discussion: """
            The action migrate makes the tables in the schema settle, or brings those of an older version up to this \
            one, as the role that owns them. Servers may run meanwhile. It needs a database and two roles, which you make \
            once: an owner for this command, and a role for the servers, to which --app-role grants the right to read and \
            change rows and nothing else.

                CREATE ROLE settle_owner LOGIN PASSWORD '…';
                CREATE ROLE settle_app LOGIN PASSWORD '…';
                CREATE DATABASE settle OWNER settle_owner;

            The address is a connection string of libpq without a password. See docs/OPERATION.md.
            """,
        operands: [Operand("ACTION", words: ["migrate"], "migrate")],
        options: [
            Option("--postgres", value: "ADDRESS", "the PostgreSQL, as the owner of the tables"),
            Option("--postgres-password-file", value: "FILE", "a file with the owner's password on its first line"),
            Option("--app-role", value: "ROLE", "grant the servers' role what it needs (default settle_app)"),
        ],
        examples: [
            CommandSpec.Example(
                "settle postgres migrate --postgres 'host=127.0.0.1 dbname=settle user=settle_owner' --postgres-password-file pw",
                "makes the tables, or migrates them"),
            CommandSpec.Example(
                "settle postgres migrate --postgres 'host=db.example dbname=settle user=owner sslmode=verify-full' --app-role web",
                "on another machine over TLS, for servers with the role web"),
        ],
        json: #"{"ok":true,"before":N or null,"version":N,"cluster":text,"skipped":[text …]}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        guard try arguments.operand("ACTION") == "migrate" else {
            throw CommandError.usage("the action must be migrate", verb: spec.name)
        }
        let configuration = try PostgresOptions.required(arguments, verb: spec.name)
        let report = try PostgresMigration.run(configuration, appRole: arguments.text("--app-role") ?? "settle_app")
        let before = report.before.map { "they had version \($0) before" } ?? "there were none before"
        let text = "The tables at \(configuration.place) have version \(report.now); \(before)"
        try invocation.console.print(
            text,
            json: [
                "ok": true, "before": report.before.map { JSONValue.number(JSONNumber($0)) } ?? .null,
                "version": .number(JSONNumber(report.now)), "cluster": .string(report.cluster),
                "skipped": .array(report.skipped.map(JSONValue.string)),
            ])
        return .success
    }
}
