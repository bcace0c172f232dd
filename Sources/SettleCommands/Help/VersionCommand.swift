internal import Settle

/// `settle version`: prints the version.
enum VersionCommand: Command {
    static var version: String { ProductVersion.current }

    static let spec = CommandSpec(
        "version", "print the version",
        examples: [CommandSpec.Example("settle --version", "the same")], json: #"{"version":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.console.print("settle \(version)", json: ["version": .string(version)])
        return .success
    }
}
