internal import Settle

/// `settle version`: says which version this is.
enum VersionCommand: Command {
    /// The version of the tool.
    static var version: String { ProductVersion.current }

    static let spec = CommandSpec(
        "version", "say which version this is",
        examples: [CommandSpec.Example("settle --version", "the same")], json: #"{"version":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.console.print("settle \(version)", json: ["version": .string(version)])
        return .success
    }
}
