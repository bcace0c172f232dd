/// A command of the tool.
protocol Command: Sendable {
    /// Describes the command; its arguments are parsed accordingly.
    static var spec: CommandSpec { get }

    /// Runs the command.
    static func run(_ invocation: Invocation) throws -> ExitStatus
}
