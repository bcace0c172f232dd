internal import SettlePlatform

/// What a worker gives up before it runs what others wrote.
///
/// JavaScriptCore has no functions for files, the network or processes. This is for the day somebody finds a hole in it.
enum ScriptConfinement {
    /// Closes all that was inherited but the two pipes, and sees that no core is written.
    static func begin() {
        ResourceLimit.coreFile.set(0, highest: 0)
        for number in Int32(3)..<Int32(min(sysconf(Int32(_SC_OPEN_MAX)), 4096)) { close(number) }
        _ = chdir("/")
    }

    /// Allows no more files, no writing to them, and so much more memory than there is in use.
    ///
    /// - Parameter memory: How many bytes.
    static func finish(memory: Int) {
        #if os(Linux)
        // Asked while a file can still be opened. The engine has reserved much of what its scripts use, so this bounds only
        // the rest; the watchdog bounds all of it.
        guard let used = dataInUse() else { _exit(ScriptExit.misuse) }
        let most = UInt64(used + memory)
        ResourceLimit.data.set(most, highest: most)
        #endif
        ResourceLimit.fileSize.set(0, highest: 0)
        // What is open stays open, and nothing is added to it.
        ResourceLimit.openFiles.set(3, highest: 3)
    }

    #if os(Linux)
    /// The memory that the limit counts, in bytes.
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
