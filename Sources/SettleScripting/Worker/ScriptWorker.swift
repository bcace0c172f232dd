internal import SettlePlatform

/// The process that runs scripts: it is asked on its standard input and answers on its standard output.
///
/// It is started by a ``ScriptPool`` and by nobody else. What a script can reach is JavaScript itself and what
/// `ScriptPrelude` gives it; see `docs/SECURITY.md`.
public enum ScriptWorker {
    /// Runs scripts until nobody asks any more, and ends the process.
    ///
    /// - Parameter arguments: How many milliseconds a function may run, and how many bytes of memory scripts may take.
    public static func main(_ arguments: [String]) -> Never {
        guard arguments.count == 2, let milliseconds = Int(arguments[0]), let memory = Int(arguments[1]),
            milliseconds > 0, memory > 0
        else { exit(ScriptExit.misuse) }
        signal(SIGPIPE, SIG_IGN)
        // A terminal's Ctrl-C is for the server, which ends this process when it is done.
        signal(SIGINT, SIG_IGN)
        ScriptConfinement.begin()
        let watchdog = ScriptWatchdog(milliseconds: milliseconds)
        guard let engine = ScriptEngine(output: Descriptor(number: STDOUT_FILENO), watchdog: watchdog) else {
            exit(ScriptExit.misuse)
        }
        guard watchdog.limitMemory(to: memory) else { exit(ScriptExit.misuse) }
        ScriptConfinement.finish(memory: memory)
        let input = Descriptor(number: STDIN_FILENO)
        while let frame = input.readFrame() {
            guard engine.run(frame) else { _exit(ScriptExit.misuse) }
        }
        _exit(ScriptExit.done)
    }
}
