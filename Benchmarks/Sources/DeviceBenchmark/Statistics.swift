/// What happened since it was made.
@Loop
final class Statistics {
    private var seconds = [[Float]](repeating: [], count: RequestKind.allCases.count)
    private(set) var answered = [Int](repeating: 0, count: RequestKind.allCases.count)
    private var asked = [Int](repeating: 0, count: RequestKind.allCases.count)
    private var items = [Int](repeating: 0, count: RequestKind.allCases.count)
    private(set) var cuts = 0
    private(set) var losses = 0
    private(set) var refusals: [String: Int] = [:]
    private(set) var pushes = 0
    private(set) var edits = 0
    private(set) var merges = 0
    private(set) var wrongContents = 0
    let began = Moment.now

    /// A request has been answered; how long that took does not count for a long-poll.
    func add(_ kind: RequestKind, seconds taken: Double) {
        answered[kind.rawValue] += 1
        if kind != .longPoll { seconds[kind.rawValue].append(Float(taken)) }
    }

    /// A long-poll has ended so long after the edit that ended it was sent.
    func addWakeUp(seconds taken: Double) { seconds[RequestKind.longPoll.rawValue].append(Float(taken)) }

    /// A request is sent that is about so many documents.
    func addItems(_ kind: RequestKind, _ count: Int) {
        asked[kind.rawValue] += 1
        items[kind.rawValue] += count
    }

    /// How many documents a request is about on average, at least one.
    func averageItems(_ kind: RequestKind) -> Int {
        max(1, Int((Double(items[kind.rawValue]) / Double(max(1, asked[kind.rawValue]))).rounded()))
    }

    func addPush() { pushes += 1 }

    /// A device has written a revision, or more to merge a conflict.
    func addEdit(merged: Int) {
        edits += 1
        merges += merged
    }

    func addWrongContent() { wrongContents += 1 }

    /// A request failed.
    func add(_ error: any Error) {
        switch error {
        case Connection.Loss.cut: cuts += 1
        case Connection.Loss.lost: losses += 1
        default: refusals["\(error)", default: 0] += 1
        }
    }

    func summary(of kind: RequestKind) -> Latencies { Latencies(seconds[kind.rawValue]) }
}

/// Some times, in milliseconds.
struct Latencies {
    let median: Double
    let percentile99: Double
    let longest: Double

    init(_ seconds: [Float]) {
        let sorted = seconds.sorted()
        let at = { (share: Double) in
            sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) * 1000
        }
        (median, percentile99, longest) = (at(0.5), at(0.99), at(1))
    }
}
