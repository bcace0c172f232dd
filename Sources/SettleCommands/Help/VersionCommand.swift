internal import CSettleBuild
internal import Settle
import SettleReplication

/// `settle version`: prints the version.
enum VersionCommand: Command {
    static let spec = CommandSpec(
        "version", "print the version, and the commit it was built from",
        discussion: "The commit is that of the checkout in which `make` built the tool; other builds don't know it.",
        examples: [
            CommandSpec.Example("settle --version", "the same"),
            CommandSpec.Example("settle version --json", "for scripts"),
        ], json: #"{"version":…,"commit":…}; no "commit" where it is not known"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.console.print(line(commit: commit), json: json(commit: commit))
        return .success
    }

    /// The version.
    static var number: String { ProductVersion.current }

    /// The commit the tool was built from, with `-dirty` if files were changed; `nil` if the build did not say.
    private static var commit: String? { settle_build_commit().map { String(cString: $0) } }

    /// The version as text.
    static func line(commit: String?) -> String {
        "settle \(number)" + (commit.map { " (\($0))" } ?? "")
    }

    /// The version as JSON.
    static func json(commit: String?) -> JSONValue {
        var json: JSONValue = ["version": .string(number)]
        json["commit"] = commit.map { .string($0) }
        return json
    }
}
