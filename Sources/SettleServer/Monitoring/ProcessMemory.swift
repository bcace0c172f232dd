internal import CMicroHTTPD
internal import SettlePlatform

/// How much memory this process has.
package enum ProcessMemory {
    /// Has all threads share two pools of memory, for a process that is a server and nothing else: a pool keeps much of what
    /// it once had, and by default there are up to eight for each processor. To be called before the first thread.
    package static func sharePools() { settle_limit_memory_pools(2) }

    /// The bytes of it that are in use now; `nil` where the system does not tell by a file.
    static func resident() -> Int? {
        let file = open("/proc/self/statm", O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let words = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
