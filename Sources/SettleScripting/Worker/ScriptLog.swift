/// The destination of scripts' log lines; global because a C callback of JavaScriptCore can't capture state.
enum ScriptLog {
    // Unchecked, no lock: a worker has one thread that runs scripts, and no other comes near this.
    nonisolated(unsafe) static var taker: (String) -> Void = { _ in }
}
