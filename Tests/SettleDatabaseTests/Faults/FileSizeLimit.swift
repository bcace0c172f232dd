import Foundation

/// The largest file this process may write, for child processes of tests: writing past it is an error of the system.
enum FileSizeLimit {
    struct Broken: Error, CustomStringConvertible { let description: String }

    static func set(_ bytes: UInt) throws {
        signal(SIGXFSZ, SIG_IGN)
        try change { $0.rlim_cur = rlim_t(bytes) }
    }

    static func lift() throws { try change { $0.rlim_cur = $0.rlim_max } }

    /// Throws, and so ends the child process as a failure, unless something holds.
    static func check(_ holds: Bool, _ words: String) throws {
        if !holds { throw Broken(description: words) }
    }

    private static func change(_ body: (inout rlimit) -> Void) throws {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #else
        let resource = RLIMIT_FSIZE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw Broken(description: "no limit can be read") }
        body(&limit)
        guard setrlimit(resource, &limit) == 0 else { throw Broken(description: "no limit can be set") }
    }
}
