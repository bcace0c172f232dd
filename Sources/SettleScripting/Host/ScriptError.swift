/// Why a script gave no result, in CouchDB's words.
public struct ScriptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// CouchDB's name for it, or that of what the script threw: `compilation_error`, `os_process_error`, `TypeError`.
    public let name: String
    /// What happened.
    public let reason: String

    /// Makes an error.
    public init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    /// A function ran for longer than it may.
    public static let timeout = ScriptError("os_process_error", "OS process timed out.")
    /// The worker has ended under a script, mostly for want of memory.
    static func ended(_ code: Int32) -> ScriptError { ScriptError("os_process_error", "{exit_status,\(code)}") }
    /// There will be no answer any more.
    static let closed = ScriptError("os_process_error", "The server stops.")

    /// The name and the reason.
    public var description: String { "\(name): \(reason)" }
}
