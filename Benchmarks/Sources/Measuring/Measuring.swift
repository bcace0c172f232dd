import Foundation

/// Times closures and prints medians, and ratios of medians within one run, so that the machine's noise cancels.
public struct Measuring {
    /// How often each side is measured.
    public let runs: Int

    public init(runs: Int) { self.runs = runs }

    /// Whether ``seconds(_:)`` counts what a processor does for the calling thread, without the waiting for a busy machine
    /// or for a disk. What other threads do is left out, too.
    private static let countsThread = ProcessInfo.processInfo.environment["THREAD_TIME"] != nil

    private static var threadSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// The seconds a closure takes.
    public func seconds(_ body: () throws -> Void) rethrows -> Double {
        if Self.countsThread {
            let start = Self.threadSeconds
            try body()
            return Self.threadSeconds - start
        }
        let duration = try ContinuousClock().measure(body)
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    /// Measures two closures alternately, `runs` times each, and returns both lists.
    public func pair(_ first: () throws -> Double, _ second: () throws -> Double) rethrows -> ([Double], [Double]) {
        var left: [Double] = []
        var right: [Double] = []
        for _ in 0..<runs {
            left.append(try first())
            right.append(try second())
        }
        return (left, right)
    }

    public static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// A line of a table: rates per second of both sides and their ratio.
    public static func row(_ name: String, count: Int, floor: [Double], settle: [Double], goal: Double?) -> String {
        let floorRate = Double(count) / median(floor)
        let rate = Double(count) / median(settle)
        let ratio = rate / floorRate
        let verdict = goal.map { ratio >= $0 ? "≥ \($0) reached" : "≥ \($0) missed" } ?? ""
        return
            "\(pad(name, 34)) \(pad(short(floorRate), 10)) \(pad(short(rate), 10)) \(pad(fixed(ratio, 2), 7)) \(verdict)"
    }

    public static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    public static func short(_ value: Double) -> String {
        value >= 1e6 ? fixed(value / 1e6, 2) + "M" : value >= 1e3 ? fixed(value / 1e3, 1) + "k" : fixed(value, 1)
    }

    public static func fixed(_ value: Double, _ digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { result, _ in result * 10 }
        let scaled = (value * scale).rounded()
        let whole = Int(scaled / scale)
        guard digits > 0 else { return "\(whole)" }
        let rest = String(Int(scaled) - whole * Int(scale))
        return "\(whole)." + String(repeating: "0", count: digits - rest.count) + rest
    }
}
