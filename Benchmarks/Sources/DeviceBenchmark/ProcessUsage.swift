import Foundation

/// What a process has used of the machine.
struct ProcessUsage {
    private let process: Int32

    /// - Parameter process: Its id.
    init(of process: Int32) { self.process = process }

    /// Seconds of processor time of all its threads, those that have ended included.
    var processor: Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Resident memory in MiB.
    var memory: Double { status("VmRSS:") }

    /// The most resident memory that it ever had, in MiB.
    var peakMemory: Double { status("VmHWM:") }

    private func status(_ name: String) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return (Double(line?.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") ?? 0) / 1024
    }
}
