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
        // "0 0x0 …" is read(0) on x86, and "63 0x0 …" on ARM: a process may wait for an answer of a server as well.
        if let call = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/syscall", encoding: .utf8) {
            let words = call.split(separator: " ")
            return words.count > 1 && ["0", "63"].contains(words[0]) && words[1] == "0x0"
        }
        let status = "/proc/\(process.processIdentifier)/stat"
        guard let text = try? String(contentsOfFile: status, encoding: .utf8) else { return process.isRunning }
        // "12 (settle) S …": the name is in parentheses, and the state of the main thread follows.
        return text.split(separator: ")").last?.hasPrefix(" S") == true
    }
}
