/// The exit codes of a worker.
enum ScriptExit {
    /// The pool closed the connection.
    static let done: Int32 = 0
    /// The request was invalid.
    static let misuse: Int32 = 70
    /// A function exceeded the time limit.
    static let timeout: Int32 = 71
    /// A function exceeded the memory limit.
    static let memory: Int32 = 72
}
