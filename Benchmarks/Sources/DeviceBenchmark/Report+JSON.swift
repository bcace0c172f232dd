import SettleCore

extension Report {
    /// All figures, for scripts: times in milliseconds, memory in MiB, processor time in seconds.
    var json: JSONValue {
        [
            "server": .string(product), "devices": number(options.devices), "databases": number(options.databases),
            "seed": number(options.seed), "connect_seconds": number(connectSeconds),
            "connecting": table(connectTimes), "memory_before": number(memoryBefore),
            "memory_connected": number(memoryConnected), "memory_peak": number(memoryPeak),
            "processor_of_a_quiet_second": number(idle), "work_seconds": number(workSeconds),
            "processor": number(processor), "processor_explained": number(explained),
            "processor_of_this_tool": number(ownProcessor), "requests": table(rows), "syncing": number(syncing),
            "pushes": number(pushes), "edits": number(edits), "merged": number(merges), "cut": number(cuts),
            "lost_connections": number(losses),
            "refused": .object(JSONObject(refusals.sorted { $0.key < $1.key }.map { ($0.key, number($0.value)) })),
            "wrong_contents": number(wrongContents), "quiet_seconds": number(quietSeconds),
            "revisions": number(verdict.revisions), "lost": number(verdict.lost), "equal": number(verdict.equal),
            "ok": .bool(isGood),
        ]
    }

    private func table(_ rows: [Row]) -> JSONValue {
        .object(
            JSONObject(
                rows.map { row in
                    let values: JSONValue = [
                        "count": number(row.answered), "p50": number(row.times.median),
                        "p99": number(row.times.percentile99), "longest": number(row.times.longest),
                        "processor": costs[row.kind].map(number) ?? .null,
                    ]
                    return (row.kind.name, values)
                }))
    }

    private func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }

    private func number(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? .null }
}
