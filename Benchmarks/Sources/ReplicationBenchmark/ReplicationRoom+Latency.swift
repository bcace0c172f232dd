import Foundation
import Measuring
import Settle

extension ReplicationRoom {
    /// How long a change takes from one database to another one, both synchronized with the server continuously.
    func latency(of count: Int) async throws {
        let hub = try peer("latency")
        _ = try? await hub.create()
        let (here, there) = (try database("here"), try database("there"))
        var push = ReplicationConfiguration.push(here, to: hub)
        push.isContinuous = true
        var pull = ReplicationConfiguration.pull(there, from: try peer("latency"))
        pull.isContinuous = true
        let replicators = [OneWayReplicator(push), OneWayReplicator(pull)]
        for replicator in replicators {
            let statuses = replicator.statuses
            replicator.start()
            for await status in statuses where status.mode == .idle { break }
        }
        var milliseconds: [Double] = []
        for number in 0..<count {
            let id = try ReplicationSample.documentID(number)
            let changes = try there.observe()
            let start = ContinuousClock.now
            try here.save(Document(id: id, body: ReplicationSample.body(number)), onConflict: .fail)
            for try await change in changes where change.id == id { break }
            milliseconds.append(Self.seconds(ContinuousClock.now - start) * 1000)
        }
        for replicator in replicators { await replicator.stop() }
        discard(here, "here")
        discard(there, "there")
        try await remove("latency")
        milliseconds.sort()
        print(
            "a change from one device to another through the server, \(count) times: median",
            "\(Measuring.fixed(Measuring.median(milliseconds), 2)) ms, 95 % within",
            "\(Measuring.fixed(milliseconds[count * 95 / 100], 2)) ms (goal: median under 10 ms)\n")
    }
}
