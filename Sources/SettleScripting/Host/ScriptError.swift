internal import SettleCore

/// A failed script call, in CouchDB's wording.
public struct ScriptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// CouchDB's name of the error, or the name of the thrown error: `compilation_error`, `os_process_error`,
    /// `TypeError`.
    public let name: String
    /// The description.
    public let reason: String

    /// Creates an error.
    public init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    /// A function exceeded the time limit.
    public static let timeout = ScriptError("os_process_error", "OS process timed out.")
    /// The library that runs functions is missing. Each worker looks for it again, so installing it is enough.
    static let engine = ScriptError(
        "os_process_error",
        "The server can't run functions without JavaScriptCore. Debian has it in libjavascriptcoregtk-4.1-0.")
    /// The worker ended during the call, usually because of a lack of memory.
    static func ended(_ code: Int32) -> ScriptError { ScriptError("os_process_error", "{exit_status,\(code)}") }
    /// The pool was closed before the answer.
    static let closed = ScriptError("os_process_error", "The server stops.")

    /// The name and the reason.
    public var description: String { "\(name): \(reason)" }
}

extension ScriptError {
    /// Parses an error from a worker: `["name","reason"]`.
    init(json bytes: [UInt8]) {
        let parts = (try? JSONValue(utf8: bytes))?.array ?? []
        self.init(parts.first?.string ?? "unnamed_error", parts.last?.string ?? "an error without a reason")
    }
}
