/// The kinds of frames from a worker.
enum ScriptReply: UInt8, Sendable {
    /// The last results of a request.
    case done = 1
    /// Results that are not the last ones.
    case part
    /// Two items, the error's name and reason; nothing follows.
    case failed
    /// A line of a script for the log.
    case log
}
