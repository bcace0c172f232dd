import SettleCore

/// Finds what a request of each kind costs the server, while all devices are connected and quiet.
///
/// It uses a database of its own, which no device follows, so that the request alone is measured. A request concerns as
/// many documents as those of the devices did on average. Requests are sent one at a time, because those of the devices
/// rarely meet. The kinds take turns. What the waiting connections cost is measured before, and subtracted.
@Loop
final class Calibration {
    private let fleet: Fleet
    private let usage: ProcessUsage
    private let path = "/device-benchmark-calibration"
    private let client: CalibrationClient
    /// As many as devices of a database that an edit wakes.
    private let feeds: [Connection]
    private var since = "0"
    /// Seconds of the server's processor, and requests, by kind.
    private var sums: [RequestKind: (processor: Double, requests: Int)] = [:]
    private static let turn = 0.25

    init(_ fleet: Fleet, _ usage: ProcessUsage) {
        (self.fleet, self.usage) = (fleet, usage)
        client = CalibrationClient(fleet, path)
        feeds = (0..<100).map { _ in Connection(fleet.server) }
    }

    /// Seconds of the server's processor for a request, by kind, and what waiting connections cost in a second.
    func run() async throws -> (costs: [RequestKind: Double], idle: Double) {
        var slices: [(time: Double, signals: Int, processor: Double)] = []
        let quietEnd = Moment.now + fleet.options.heartbeat
        while Moment.now < quietEnd {
            slices.append(try await measure { await Poller.shared.sleep(Self.turn) })
        }
        let waiting = WaitingCost(slices)
        try await client.prepare()
        since = try await client.sequence()
        let end = Moment.now + fleet.options.calibration
        repeat {
            for kind in RequestKind.allCases { try await take(kind, waiting) }
        } while Moment.now < end
        for feed in feeds { feed.close() }
        _ = try await client.ask("DELETE", path)
        var costs = sums.mapValues { $0.processor / Double($0.requests) }
        costs[.longPoll] = max(0, ((costs[.longPoll] ?? 0) - (costs[.bulkDocs] ?? 0)) / Double(feeds.count))
        let all = slices.reduce(into: (time: 0.0, processor: 0.0)) {
            $0 = ($0.time + $1.time, $0.processor + $1.processor)
        }
        return (costs, all.processor / max(1e-9, all.time))
    }

    /// Sends requests of a kind for a while, then waits, so that the work that follows belongs to the turn.
    private func take(_ kind: RequestKind, _ waiting: WaitingCost) async throws {
        var sum = sums[kind] ?? (0, 0)
        let used = try await measure {
            let end = Moment.now + Self.turn
            repeat {
                if kind == .longPoll { try await wake() } else { try await client.send(kind) }
                sum.requests += 1
            } while Moment.now < end
            await Poller.shared.sleep(Self.turn)
        }
        sum.processor += used.processor - waiting.processor(time: used.time, signals: used.signals)
        sums[kind] = sum
    }

    private func measure(
        _ body: () async throws -> Void
    ) async throws -> (time: Double, signals: Int, processor: Double) {
        let (processor, began, signals) = (usage.processor, Moment.now, Connection.signals)
        try await body()
        return (Moment.now - began, Connection.signals - signals, usage.processor - processor)
    }

    /// Has all feeds wait, writes something, and takes their answers.
    private func wake() async throws {
        let request = fleet.server.request(
            "GET", "\(path)/_changes?style=all_docs&since=\(since)&feed=longpoll&heartbeat=30000")
        let waiting = feeds.map { feed in
            Loop.begin { try await feed.exchange(request) }
        }
        await Poller.shared.sleep(0.1)
        try await client.send(.bulkDocs)
        for feed in waiting { since = ChangesPage(try JSONValue(utf8: try await feed.value.body)).last }
    }
}
