/// Signals, where the headers of the systems differ.
package enum Signals {
    /// Sets what a signal calls. A call of the system that waits when it comes ends with `EINTR`.
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
