import Foundation
import SettlePlatform

extension Room {
    /// Whether a process has read all of its input, and waits for more.
    ///
    /// Where the system does not report a process's state, only an empty pipe is checked.
    static func isWaiting(_ process: Process, for input: Pipe) -> Bool {
        var left: CInt = 0
        let pipe = input.fileHandleForWriting.fileDescriptor
        guard ioctl(pipe, UInt(FIONREAD), &left) == 0, left == 0 else { return false }
        let status = "/proc/\(process.processIdentifier)/stat"
        guard let text = try? String(contentsOfFile: status, encoding: .utf8) else { return process.isRunning }
        // "12 (settle) S …": the name is in parentheses, and the state of the main thread follows.
        return text.split(separator: ")").last?.hasPrefix(" S") == true
    }
}
