/// One thing the tool can do.
protocol Verb: Sendable {
    /// What there is to say about it, which its arguments are read by.
    static var guide: Guide { get }

    /// Does it.
    static func run(_ invocation: Invocation) throws -> ExitStatus
}
