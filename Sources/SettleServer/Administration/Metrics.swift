internal import CMicroHTTPD
internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleReplication

/// Counts requests, documents and feeds.
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

    /// The methods with their own counters. All other methods share one, because a client may invent any number.
    private static let methods: Set = ["COPY", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]

    /// Counts a request when its answer begins.
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

    /// Counts a feed of changes as open.
    func openedFeed() { state.withLock { $0.openFeeds += 1 } }

    /// Counts a feed of changes as closed.
    func closedFeed() { state.withLock { $0.openFeeds -= 1 } }

    /// Sets the source of the number of connections.
    func setConnections(_ count: @escaping @Sendable () -> Int) { state.withLock { $0.connections = count } }

    /// The durations of recent requests, and the number and sum of all.
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

/// The memory that this process uses.
package enum ProcessMemory {
    /// Makes all threads share two malloc arenas, for a process that only serves. An arena keeps freed memory, and
    /// by default there are up to eight per processor. Call this before the first thread starts.
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

// MARK: - Metric

/// A metric, or several that differ by a label.
struct Metric: Sendable {
    /// The kind of a metric: how its number changes.
    enum Kind: String, Sendable {
        /// It only grows.
        case counter
        /// It goes up and down.
        case gauge
    }

    /// The path in CouchDB's statistics.
    let path: [String]
    let kind: Kind
    let help: String
    let label: String?
    let values: [(label: String, value: Int)]

    init(_ path: [String], _ kind: Kind, _ help: String, _ value: Int) {
        self.init(path, kind, help, label: nil, values: [("", value)])
    }

    init(_ path: [String], _ kind: Kind, _ help: String, label: String?, values: [(String, Int)]) {
        self.path = path
        self.kind = kind
        self.help = help
        self.label = label
        self.values = values
    }

    /// The lines for Prometheus; counters without a label end in `_total`, as in CouchDB.
    var text: String {
        var parts = path
        if parts.first == "couchdb" { parts.removeFirst() }
        var name = "couchdb_" + parts.joined(separator: "_")
        if kind == .counter, label == nil, path != ["uptime_seconds"] { name += "_total" }
        var lines = ["", "# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
        lines += values.map { value in
            label.map { "\(name){\($0)=\"\(value.label)\"} \(value.value)" } ?? "\(name) \(value.value)"
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The numbers for `_stats`, each with its complete path.
    var statistics: [(path: [String], json: JSONValue)] {
        values.map { value in
            let json: JSONValue = [
                "value": .number(JSONNumber(value.value)), "type": .string(kind.rawValue), "desc": .string(help),
            ]
            return (label == nil ? path : path + [value.label], json)
        }
    }
}

// MARK: - MonitoringEndpoints

/// The endpoints for monitoring a server.
enum MonitoringEndpoints {
    /// `GET /_active_tasks`: the running compaction, if any, and the running replications.
    static let activeTasks: Endpoint = .work(\.replications) { replications, context in
        .json(
            .array(
                context.compactions.tasks.map(\.json) + context.indexing.json
                    + replications.runningJobs().map { $0.taskJSON(at: replications.node) }))
    }

    /// `GET /_node/{node}/_prometheus`
    static let prometheus: Endpoint = .work(\.replications) { replications, context in
        let times = context.metrics.times
        let text = try metrics(replications, context).map(\.text).joined() + times.lately.text(times.total)
        return HTTPResponse(
            status: 200, headers: ["Content-Type": "text/plain; version=2.0", "Cache-Control": "no-cache"],
            body: .bytes(Array(text.utf8)))
    }

    /// `GET /_node/{node}/_stats`
    static let statistics: Endpoint = .work(\.replications) { replications, context in
        var found = JSONValue.object(
            tree(try metrics(replications, context).flatMap(\.statistics) + [context.metrics.times.lately.statistics]))
        for name in context.parameter("what").split(separator: "/") {
            guard let inner = found.object?[String(name)] else { throw HTTPError.notFound("missing") }
            found = inner
        }
        return .json(found)
    }

    private static func metrics(_ replications: ReplicationService, _ context: RequestContext) throws -> [Metric] {
        try ConfigurationEndpoints.checkNode(context)
        return context.metrics.all(openDatabases: context.databases.openCount) + context.databases.numbers
            + replications.metrics + context.scrubMetrics
    }

    /// Statistics by the parts of their paths.
    private static func tree(_ rows: [(path: [String], json: JSONValue)]) -> JSONObject {
        var tree = JSONObject()
        for row in rows {
            guard let name = row.path.first, tree[name] == nil else { continue }
            let inner = rows.filter { $0.path.first == name }.map { (path: Array($0.path.dropFirst()), json: $0.json) }
            tree[name] = inner.first?.path.isEmpty == true ? row.json : .object(Self.tree(inner))
        }
        return tree
    }
}
