internal import SettleDatabase
internal import SettlePlatform
internal import SettleReplication

/// What is watched of replications.
extension ReplicationService {
    /// All numbers as they are now.
    var metrics: [Metric] {
        let (counts, states) = scheduler.counts
        func metric(_ path: [String], _ kind: Metric.Kind, _ help: String, _ value: Int) -> Metric {
            Metric(["couch_replicator"] + path, kind, help, value)
        }
        return [
            metric(["jobs", "total"], .gauge, "number of replications there are", states.values.reduce(0, +)),
            metric(["jobs", "running"], .gauge, "number of replications that run", states[.running] ?? 0),
            metric(
                ["jobs", "pending"], .gauge, "number of replications that wait for their turn", states[.pending] ?? 0),
            metric(
                ["jobs", "crashing"], .gauge, "number of replications that failed or can't reach a peer, and try again",
                states[.crashing] ?? 0),
            metric(["jobs", "starts"], .counter, "number of runs of replications that were begun", counts.started),
            metric(["jobs", "completed"], .counter, "number of replications that were completed", counts.completed),
            metric(["jobs", "crashes"], .counter, "number of runs of replications that failed", counts.crashed),
        ]
    }
}
