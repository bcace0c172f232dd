import Measuring

extension Report {
    /// The table for people, with what is said above and below it.
    var text: String {
        let table = [header] + rows.map(line)
        return ([opening, usage, course, ""] + table + [ending]).compactMap(\.self).joined(separator: "\n")
    }

    private var opening: String {
        """
        \(product): \(options.devices) devices in \(options.databases) databases, seed \(options.seed)
        connected in \(short(connectSeconds)) s, \(Int(Double(options.devices) / max(0.001, connectSeconds))) a second
        """
    }

    /// Memory and processor, where the server's process is known.
    private var usage: String? {
        guard options.process != nil else { return nil }
        let each = short((memoryConnected - memoryBefore) * 1024 / Double(options.devices))
        let quiet = costs.isEmpty ? "" : ", \(short(idle * 100)) % while all wait"
        return """
            memory of the server: \(Int(memoryBefore)) MiB before, \(Int(memoryConnected)) MiB with all connected, \
            \(each) KiB each, \(Int(memoryPeak)) MiB at the peak
            processor of the server: \(share(processor)) % while devices work\(quiet); this tool \(share(ownProcessor)) %
            """
    }

    private var course: String {
        let refused = refusals.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value) ×" }
        return """
            work: \(short(workSeconds)) s, \(short(syncing)) devices synced at any moment, \(pushes) pushes, \
            \(edits) edits, \(merges) conflicts merged
            connections: \(cuts) cut on purpose, \(losses) lost otherwise; requests refused: \
            \(refused.isEmpty ? "none" : refused.joined(separator: ", "))
            """
    }

    private var ending: String {
        let explained = "the rows and waiting explain \(share(explained)) of \(share(processor)) % of the processor\n"
        return """
            \(costs.isEmpty ? "" : explained)the time of a long-poll: from sending an edit until another device knows it

            quiet after \(short(quietSeconds)) s; lost: \(verdict.lost) of \(verdict.revisions) revisions; \
            wrong contents: \(wrongContents); equal: \(verdict.equal) of \(verdict.devices) devices
            """
    }

    private var header: String {
        columns(
            ["", "count", "a second", "p50 ms", "p99 ms", "longest ms"]
                + (costs.isEmpty ? [] : ["CPU µs each", "CPU %"]))
    }

    private func line(_ row: Row) -> String {
        var values = [
            row.kind.name, "\(row.answered)", short(Double(row.answered) / workSeconds), short(row.times.median),
            short(row.times.percentile99), short(row.times.longest),
        ]
        if !costs.isEmpty {
            values += costs[row.kind].map { ["\(Int($0 * 1e6))", share($0 * Double(row.answered))] } ?? ["", ""]
        }
        return columns(values)
    }

    private func columns(_ values: [String]) -> String {
        Measuring.pad(values[0], 18)
            + values.dropFirst().map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
    }

    /// Seconds of a processor as percents of one processor while devices worked.
    private func share(_ seconds: Double) -> String { short(seconds / max(0.001, workSeconds) * 100) }

    private func short(_ value: Double) -> String { Measuring.fixed(value, value < 100 ? 1 : 0) }
}
