/// Where the lines go that scripts write, since a function that JavaScriptCore calls can hold nothing.
enum ScriptLog {
    // Unchecked, no lock: a worker has one thread that runs scripts, and no other comes near this.
    nonisolated(unsafe) static var taker: (String) -> Void = { _ in }
}
