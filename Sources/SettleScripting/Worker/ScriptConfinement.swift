#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// What a worker gives up before it runs what others wrote.
///
/// JavaScriptCore has no functions for files, the network or processes. This is for the day somebody finds a hole in it.
enum ScriptConfinement {
    /// Closes all that was inherited but the two pipes, and sees that no core is written.
    static func begin() {
        let none = rlimit(rlim_cur: 0, rlim_max: 0)
        set(core, none)
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
        let most = rlim_t(used + memory)
        set(data, rlimit(rlim_cur: most, rlim_max: most))
        #endif
        set(fileSize, rlimit(rlim_cur: 0, rlim_max: 0))
        // What is open stays open, and nothing is added to it.
        set(files, rlimit(rlim_cur: 3, rlim_max: 3))
    }

    #if canImport(Glibc)
    private typealias Resource = __rlimit_resource
    #else
    private typealias Resource = Int32
    #endif
    private static let core = RLIMIT_CORE
    private static let fileSize = RLIMIT_FSIZE
    private static let files = RLIMIT_NOFILE
    private static let data = RLIMIT_DATA

    private static func set(_ resource: Resource, _ limit: rlimit) {
        var limit = limit
        #if canImport(Glibc)
        _ = setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        #else
        _ = setrlimit(resource, &limit)
        #endif
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
