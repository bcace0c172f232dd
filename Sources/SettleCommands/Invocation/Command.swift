/// One thing the tool can do.
protocol Command: Sendable {
    /// What there is to say about it, which its arguments are read by.
    static var spec: CommandSpec { get }

    /// Does it.
    static func run(_ invocation: Invocation) throws -> ExitStatus
}
