/// Starting and looking at processes, where the systems' headers differ.
package enum ChildProcess {
    #if canImport(Darwin)
    /// The changes to the descriptors of a new process.
    package typealias FileActions = posix_spawn_file_actions_t?

    /// No actions; to be initialised by `posix_spawn_file_actions_init`.
    package static var noFileActions: FileActions { nil }
    #else
    /// The changes to the descriptors of a new process.
    package typealias FileActions = posix_spawn_file_actions_t

    /// No actions; to be initialised by `posix_spawn_file_actions_init`.
    package static var noFileActions: FileActions { FileActions() }
    #endif

    /// Sets the niceness of a process, from -20 to 19; the higher it is, the more other processes are preferred.
    package static func setPriority(_ value: Int32, of process: pid_t) {
        #if canImport(Glibc)
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(process), value)
        #else
        setpriority(PRIO_PROCESS, id_t(process), value)
        #endif
    }

    /// Whether a process runs. One that has ended does not, even if its parent has not collected its status yet.
    package static func isRunning(_ process: pid_t) -> Bool {
        // The signal 0 only asks, and a process that has ended counts until it is collected.
        guard kill(process, 0) == 0 || errno == EPERM else { return false }
        #if canImport(Darwin)
        var (information, size) = (kinfo_proc(), MemoryLayout<kinfo_proc>.stride)
        var name = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
        guard sysctl(&name, UInt32(name.count), &information, &size, nil, 0) == 0, size > 0 else { return true }
        return Int32(information.kp_proc.p_stat) != SZOMB
        #else
        guard let file = fopen("/proc/\(process)/stat", "re") else { return true }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        // The id and the name in parentheses, which may itself contain some, come before the state.
        guard let end = bytes.prefix(count).lastIndex(of: UInt8(ascii: ")")) else { return true }
        let state = bytes.prefix(count).dropFirst(end + 2).first
        return state != UInt8(ascii: "Z") && state != UInt8(ascii: "X")
        #endif
    }

    /// The time for which a running process has computed, in milliseconds; `nil` if the system does not tell.
    package static func processorTime(of process: pid_t) -> Int64? {
        #if canImport(Darwin)
        var usage = rusage_info_v0()
        let code = withUnsafeMutablePointer(to: &usage) { usage in
            usage.withMemoryRebound(to: rusage_info_t?.self, capacity: 1) {
                proc_pid_rusage(process, RUSAGE_INFO_V0, $0)
            }
        }
        var base = mach_timebase_info()
        guard code == 0, mach_timebase_info(&base) == KERN_SUCCESS, base.denom > 0 else { return nil }
        let nanoseconds = Double(usage.ri_user_time + usage.ri_system_time) * Double(base.numer) / Double(base.denom)
        return Int64(nanoseconds / 1_000_000)
        #else
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        #endif
    }
}

// MARK: - Signals

/// Signals, where the systems' headers differ.
package enum Signals {
    /// Sets the handler of a signal. A system call that is waiting when the signal comes ends with `EINTR`.
    package static func handle(_ signal: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        #if canImport(Darwin)
        action.__sigaction_u.__sa_handler = handler
        #else
        action.__sigaction_handler.sa_handler = handler
        #endif
        sigaction(signal, &action, nil)
    }
}

// MARK: - ResourceLimit

/// A limit that the system sets on this process.
package enum ResourceLimit: Sendable {
    /// The size of a core file in bytes.
    case coreFile
    /// The size of data memory in bytes; the system may not enforce it.
    case data
    /// The size of a file in bytes.
    case fileSize
    /// The number of open files.
    case openFiles

    /// The limit, and the highest limit that this process may set; `nil` if the system does not report them.
    package var value: (current: UInt64, highest: UInt64)? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return (UInt64(limit.rlim_cur), UInt64(limit.rlim_max))
    }

    /// Sets the limit.
    ///
    /// - Parameters:
    ///   - current: The limit.
    ///   - highest: The highest limit that this process may set from now on; it can't be raised again.
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
