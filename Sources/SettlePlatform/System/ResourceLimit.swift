/// A limit that the system sets to this process.
package enum ResourceLimit: Sendable {
    /// The bytes of a core file.
    case coreFile
    /// The bytes of memory for data; the system may not bound it.
    case data
    /// The bytes of a file.
    case fileSize
    /// The number of open files.
    case openFiles

    /// The limit, and the highest that this process may set; `nil` when the system does not tell.
    package var value: (current: UInt64, highest: UInt64)? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return (UInt64(limit.rlim_cur), UInt64(limit.rlim_max))
    }

    /// Sets the limit.
    ///
    /// - Parameters:
    ///   - current: The limit.
    ///   - highest: The highest that this process may set from now on; it can't be raised again.
    /// - Returns: Whether the system allowed it.
    @discardableResult
    package func set(_ current: UInt64, highest: UInt64) -> Bool {
        var limit = rlimit(rlim_cur: rlim_t(current), rlim_max: rlim_t(highest))
        return setrlimit(resource, &limit) == 0
    }

    #if canImport(Glibc)
    private var resource: __rlimit_resource_t { __rlimit_resource_t(number.rawValue) }

    private var number: __rlimit_resource {
        switch self {
        case .coreFile: RLIMIT_CORE
        case .data: RLIMIT_DATA
        case .fileSize: RLIMIT_FSIZE
        case .openFiles: RLIMIT_NOFILE
        }
    }
    #else
    private var resource: Int32 {
        switch self {
        case .coreFile: RLIMIT_CORE
        case .data: RLIMIT_DATA
        case .fileSize: RLIMIT_FSIZE
        case .openFiles: RLIMIT_NOFILE
        }
    }
    #endif
}
