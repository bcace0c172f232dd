internal import CMicroHTTPD
internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Counts what the server does.
final class Metrics: Sendable {
    private struct State {
        var methods: [String: Int] = [:]
        var statuses: [Int: Int] = [:]
        var documentsRead = 0
        var documentsWritten = 0
        var openFeeds = 0
        var times = RequestTimes()
        var connections: (@Sendable () -> Int)?
    }

    private let state = Guarded(State())
    private let start = DispatchTime.now().uptimeNanoseconds

    /// Methods with counters of their own; a client may invent others.
    private static let methods: Set = ["COPY", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]

    /// A request that began then was answered, or its answer was started.
    func answered(_ method: String, status: Int, since start: ContinuousClock.Instant) {
        let method = Self.methods.contains(method) ? method : "other"
        state.withLock { state in
            state.methods[method, default: 0] += 1
            state.statuses[status, default: 0] += 1
            state.times.add(since: start)
        }
    }

    /// Counts a document sent to a client.
    func readDocument() { state.withLock { $0.documentsRead += 1 } }

    /// Counts stored revisions.
    func wroteDocuments(_ count: Int) { state.withLock { $0.documentsWritten += count } }

    /// A feed of changes was opened.
    func openedFeed() { state.withLock { $0.openFeeds += 1 } }

    /// A feed of changes has ended.
    func closedFeed() { state.withLock { $0.openFeeds -= 1 } }

    /// Sets the source of the number of connections.
    func setConnections(_ count: @escaping @Sendable () -> Int) { state.withLock { $0.connections = count } }

    /// How long requests took lately, and all of them together.
    var times: (lately: RequestTimes.Summary, total: (count: Int, seconds: Double)) {
        state.withLock { ($0.times.summary(), $0.times.total) }
    }

    /// All other metrics, with their current numbers.
    func all(openDatabases: Int) -> [Metric] {
        let state = state.withLock { $0 }
        let uptime = (DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000
        var all = [
            Metric(
                ["couchdb", "httpd", "requests"], .counter, "number of HTTP requests",
                state.methods.values.reduce(0, +)),
            Metric(
                ["couchdb", "httpd_request_methods"], .counter, "number of HTTP requests by method", label: "method",
                values: state.methods.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }),
            Metric(
                ["couchdb", "httpd_status_codes"], .counter, "number of HTTP responses by status code", label: "code",
                values: state.statuses.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value) }),
            Metric(
                ["couchdb", "httpd", "clients_requesting_changes"], .gauge, "number of open feeds of changes",
                state.openFeeds),
            Metric(
                ["couchdb", "database_reads"], .counter, "number of times a document was read from a database",
                state.documentsRead),
            Metric(
                ["couchdb", "document_writes"], .counter, "number of document write operations",
                state.documentsWritten),
            Metric(["couchdb", "open_databases"], .gauge, "number of open databases", openDatabases),
            Metric(["settle", "connections"], .gauge, "number of open connections", state.connections?() ?? 0),
            Metric(["uptime_seconds"], .counter, "seconds since the server was made", Int(uptime)),
        ]
        if let memory = ProcessMemory.resident() {
            all.append(Metric(["settle", "memory_bytes"], .gauge, "memory of the process that is in use", memory))
        }
        return all
    }
}

/// How much memory this process has.
package enum ProcessMemory {
    /// Makes all threads share two malloc arenas, for a process that only serves: an arena retains memory, and by default
    /// there are up to eight per processor. Call it before the first thread starts.
    package static func sharePools() { settle_limit_memory_pools(2) }

    /// The resident memory in bytes; `nil` if the system does not provide it in a file.
    static func resident() -> Int? {
        let file = open("/proc/self/statm", O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let words = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
