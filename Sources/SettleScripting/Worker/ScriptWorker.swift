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
        guard ScriptEngine.load() else { exit(ScriptExit.engine) }
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

// MARK: - ScriptConfinement

/// Drops permissions of a worker before it runs untrusted scripts.
///
/// JavaScriptCore has no functions for files, the network or processes. The confinement limits the damage of a
/// vulnerability in it.
enum ScriptConfinement {
    /// Closes all inherited descriptors except for standard input, output and error, and disables core dumps.
    static func begin() {
        ResourceLimit.coreFile.set(0, highest: 0)
        for number in Int32(3)..<Int32(min(sysconf(Int32(_SC_OPEN_MAX)), 4096)) { close(number) }
        _ = chdir("/")
    }

    /// Forbids opening and writing files, and limits the memory to the current use plus `memory`.
    ///
    /// - Parameter memory: The additional memory in bytes.
    static func finish(memory: Int) {
        #if os(Linux)
        // Read while files can still be opened. The engine has already reserved most of the memory for scripts, so
        // this limits only the rest; the watchdog limits all of it.
        guard let used = dataInUse() else { _exit(ScriptExit.misuse) }
        let most = UInt64(used + memory)
        ResourceLimit.data.set(most, highest: most)
        #endif
        ResourceLimit.fileSize.set(0, highest: 0)
        // Open descriptors stay open, but no more can be opened.
        ResourceLimit.openFiles.set(3, highest: 3)
    }

    #if os(Linux)
    /// The memory that counts towards the limit, in bytes.
    private static func dataInUse() -> Int? {
        guard let file = fopen("/proc/self/status", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmData:") else { continue }
            return text.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
        }
        return nil
    }
    #endif
}

// MARK: - ScriptLog

/// The destination of scripts' log lines; global because a C callback of JavaScriptCore can't capture state.
enum ScriptLog {
    // Unchecked: it needs no lock, because only the worker's single thread that runs scripts uses it.
    nonisolated(unsafe) static var taker: (String) -> Void = { _ in }
}
