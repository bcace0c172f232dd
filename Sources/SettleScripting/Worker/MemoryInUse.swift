internal import SettlePlatform

/// The memory in use by the process, as the system reports it.
///
/// On Linux it reads a file that stays open, because a worker can't open one later.
struct MemoryInUse: Sendable {
    #if os(Linux)
    private let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)

    /// The resident memory in bytes; `nil` when the system does not report it.
    var bytes: Int? {
        var text = [UInt8](repeating: 0, count: 128)
        let count = pread(file, &text, text.count, 0)
        guard count > 0 else { return nil }
        let words = text[..<count].split(separator: UInt8(ascii: " "))
        guard words.count > 1, let pages = Int(String(decoding: words[1], as: UTF8.self)) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
    #else
    /// The resident memory in bytes; `nil` when the system does not report it.
    var bytes: Int? {
        var info = mach_task_basic_info()
        var count = mach_msg_type_number_t(MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
        let code = withUnsafeMutablePointer(to: &info) { info in
            info.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
                task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
            }
        }
        return code == KERN_SUCCESS ? Int(info.resident_size) : nil
    }
    #endif
}
