internal import SettlePlatform

/// The process that runs scripts: it reads requests from its standard input and writes answers to its standard
/// output.
///
/// Only a ``ScriptPool`` starts it. A script can use JavaScript itself and the functions of `prelude.js`; see
/// `docs/SECURITY.md`.
public enum ScriptWorker {
    /// Runs scripts until standard input is closed, and ends the process.
    ///
    /// - Parameter arguments: The time limit of a function in milliseconds, and the memory limit of scripts in bytes.
    public static func main(_ arguments: [String]) -> Never {
        guard arguments.count == 2, let milliseconds = Int(arguments[0]), let memory = Int(arguments[1]),
            milliseconds > 0, memory > 0
        else { exit(ScriptExit.misuse) }
        signal(SIGPIPE, SIG_IGN)
        // A terminal's Ctrl-C is for the server, which ends this process when it stops.
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
