/// With which code a worker ends by itself.
enum ScriptExit {
    /// Nobody asks it any more.
    static let done: Int32 = 0
    /// What it was asked is nothing it knows.
    static let misuse: Int32 = 70
    /// A function ran for too long.
    static let timeout: Int32 = 71
    /// A function took too much memory.
    static let memory: Int32 = 72
}
