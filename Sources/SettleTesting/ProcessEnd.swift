package import Foundation
internal import SettlePlatform

extension Process {
    /// Waits until the process has ended, and returns its exit status as a shell does: for a signal, 128 and its
    /// number.
    ///
    /// Foundation notices the end of a process when a socket closes. A process that another thread starts at the same
    /// moment may inherit that socket, and Foundation then waits for both. This function asks the kernel instead.
    @discardableResult package func waitForEnd() -> Int32 {
        var information = siginfo_t()
        // The process stays a child, for Foundation to collect.
        while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR else {
                // Foundation has collected it.
                waitUntilExit()
                return terminationReason == .exit ? terminationStatus : 128 + terminationStatus
            }
        }
        #if canImport(Darwin)
        let status = information.si_status
        #else
        let status = information._sifields._sigchld.si_status
        #endif
        return information.si_code == Int32(CLD_EXITED) ? status : 128 + status
    }
}
