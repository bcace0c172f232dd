/// What is reported at the end.
struct Report: Sendable {
    struct Row: Sendable {
        let kind: RequestKind
        let answered: Int
        let times: Latencies
    }

    var options: DeviceOptions
    var product = ""
    var connectSeconds = 0.0
    var connectTimes: [Row] = []
    var memoryBefore = 0.0
    var memoryConnected = 0.0
    var memoryPeak = 0.0
    /// Of the server's processor, in each second without requests.
    var idle = 0.0
    /// Seconds of the server's processor for a request.
    var costs: [RequestKind: Double] = [:]
    var workSeconds = 0.0
    var processor = 0.0
    var ownProcessor = 0.0
    var rows: [Row] = []
    var syncing = 0.0
    var pushes = 0
    var edits = 0
    var merges = 0
    var cuts = 0
    var losses = 0
    var refusals: [String: Int] = [:]
    var wrongContents = 0
    var quietSeconds = 0.0
    var verdict = Verdict()

    var isGood: Bool { verdict.isGood && wrongContents == 0 }

    /// Takes what was counted while devices worked.
    @Loop
    mutating func take(_ statistics: Statistics) {
        rows = Self.rows(statistics)
        (pushes, edits, merges) = (statistics.pushes, statistics.edits, statistics.merges)
        (cuts, losses, refusals) = (statistics.cuts, statistics.losses, statistics.refusals)
    }

    @Loop
    static func rows(_ statistics: Statistics) -> [Row] {
        RequestKind.allCases.map {
            Row(kind: $0, answered: statistics.answered[$0.rawValue], times: statistics.summary(of: $0))
        }
    }

    /// Seconds of the server's processor that the rows explain, and waiting connections.
    var explained: Double {
        rows.reduce(idle * workSeconds) { $0 + (costs[$1.kind] ?? 0) * Double($1.answered) }
    }
}
