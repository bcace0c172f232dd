/// Processes that this one starts, where the headers of the systems differ.
package enum ChildProcess {
    #if canImport(Darwin)
    /// What is done to the descriptors of a new process.
    package typealias FileActions = posix_spawn_file_actions_t?

    /// No actions; to be initialised by `posix_spawn_file_actions_init`.
    package static var noFileActions: FileActions { nil }
    #else
    /// What is done to the descriptors of a new process.
    package typealias FileActions = posix_spawn_file_actions_t

    /// No actions; to be initialised by `posix_spawn_file_actions_init`.
    package static var noFileActions: FileActions { FileActions() }
    #endif

    /// Sets how much others go before a process: from -20 to 19, the least.
    package static func setPriority(_ value: Int32, of process: pid_t) {
        #if canImport(Glibc)
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(process), value)
        #else
        setpriority(PRIO_PROCESS, id_t(process), value)
        #endif
    }
}
