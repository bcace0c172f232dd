import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// Nodes that share a replicator's database, and a server with the databases `a` and `b` between which they replicate. Time
/// passes on request: for the storage, and for each node that is awake.
final class LeasedNodes: Sendable {
    static let replicator = "_replicator"

    let server: LiveServer
    let clock = ManualClock()
    let nodes: [LeasedNode]

    init(_ names: [String], room: Int = 10, turn: Duration = .seconds(60)) async throws {
        server = try LiveServer()
        let store = try SharedStore(clock)
        nodes = try names.map { LeasedNode(try store.node($0), room: room, turn: turn) }
        for name in ["a", "b"] { try await CouchDBPeer(server.url(name)).create() }
        for node in nodes { node.documents.watch(Self.replicator, node.database) }
    }

    deinit {
        // The server can't stop while somebody asks it again and again.
        for node in nodes {
            node.transport.open()
            node.documents.stop()
            node.scheduler.stop(seconds: 10)
        }
    }

    /// The ids of the jobs that run on any node.
    var runningIDs: Set<String> { Set(nodes.flatMap { $0.scheduler.runningJobs.map(\.id) }) }

    /// A database of the server, as the server has it open.
    func database(_ name: String) throws -> Database { try DocumentStore(path: server.folder.path).open(name) }

    /// Writes a document that asks for a replication.
    func order(_ id: String, to target: String = "b", _ more: JSONObject = JSONObject()) throws {
        var members: JSONObject = [
            "source": .string("\(try server.url("a"))"), "target": .string("\(try server.url(target))"),
        ]
        for side in ["source", "target"] {
            let url = members[side] ?? .null
            members[side] = ["url": url, "auth": ["basic": ["username": "admin", "password": "secret-word"]]]
        }
        for member in more { members[member.name] = member.value }
        try nodes[0].node.database.put(DocumentID(unchecked: id), .object(members))
    }

    /// Lets time pass until a condition holds.
    ///
    /// - Returns: How much has passed; `nil` if it never held.
    @discardableResult
    func pass(atMost limit: Duration = .seconds(60), until isEnough: () throws -> Bool) async throws -> Duration? {
        let start = clock.now
        // After the limit the clocks stand still, but a busy machine may need longer to finish what has begun.
        for _ in 0..<6000 {
            if try isEnough() { return start.duration(to: clock.now) }
            try await pass(start.duration(to: clock.now) < limit ? .milliseconds(300) : .zero)
        }
        return nil
    }

    /// Advances the clocks, and gives other threads time to react.
    func pass(_ span: Duration) async throws {
        clock.advance(by: span)
        let awake = nodes.filter { !$0.isAsleep.withLock(\.self) }
        for node in awake { node.clock.advance(to: clock.now) }
        // If time went on before, a node that a busy machine does not run would lose its leases.
        await eventually("the nodes have renewed their leases") { awake.allSatisfy(\.documents.areLeasesIdle) }
        // Other reactions run on other threads and do not report their end. A request takes longer on a busy machine, so
        // it adapts the pause.
        try await Task.sleep(for: .milliseconds(20))
        _ = try await CouchDBPeer(server.url("a")).product()
    }
}

/// A node with what runs replications on it.
final class LeasedNode: Sendable {
    let node: SharedNode
    let clock = ManualClock()
    let transport = HeldTransport()
    let scheduler: ReplicationScheduler
    let documents: ReplicatorDocuments
    let warnings: Guarded<[String]>
    let started: Guarded<[String: Int]>
    /// Whether its clock stands still.
    let isAsleep = Guarded(false)

    var database: Database { node.database }

    init(_ node: SharedNode, room: Int, turn: Duration) {
        let (warnings, started) = (Guarded<[String]>([]), Guarded<[String: Int]>([:]))
        (self.node, self.warnings, self.started) = (node, warnings, started)
        var retry = ReplicationRetryPolicy()
        (retry.firstDelay, retry.maximumDelay) = (.milliseconds(50), .milliseconds(200))
        scheduler = ReplicationScheduler(room: room, turn: turn, retry: retry)
        scheduler.observe { notice in
            guard case .started(let job) = notice, let id = job.origin?.document.string else { return }
            started.withLock { $0[id, default: 0] += 1 }
        }
        let transport = transport
        documents = ReplicatorDocuments(scheduler, clock: clock) { _, _ throws(ReplicationDocumentError) in
            transport
        } warn: { message, _ in
            warnings.withLock { $0.append(message) }
        }
    }

    /// Puts the clock to sleep, and wakes it.
    func sleep(_ isAsleep: Bool) { self.isAsleep.withLock { $0 = isAsleep } }

    func starts(_ id: String) -> Int { started.withLock { $0[id] ?? 0 } }

    func hasWarned(_ text: String) -> Bool { warnings.withLock { $0.contains { $0.contains(text) } } }

    /// The documents whose jobs run here.
    var running: [String] { scheduler.runningJobs.compactMap { $0.origin?.document.string } }
}

/// A client that holds requests to store documents, until it is told to go on.
final class HeldTransport: HTTPTransport {
    private struct State {
        /// The number of requests that pass before the others are held; `nil` for all.
        var free: Int?
        /// The number of logs with the checkpoint that are missing: one on each side.
        var missingLogs = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let transport = DefaultTransport()
    private let state = Guarded(State())

    /// Holds all that follow.
    func hold() { state.withLock { $0.free = 0 } }

    /// Lets some pass, so that a checkpoint is written, and holds those that follow.
    func hold(after count: Int) { state.withLock { ($0.free, $0.missingLogs) = (count, 2) } }

    /// Lets all pass.
    func open() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Whether a request is held, and the checkpoint before it is written, if one was wanted.
    var isHolding: Bool { state.withLock { !$0.waiting.isEmpty && $0.missingLogs <= 0 } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let url = "\(request.url)"
        if url.contains("_bulk_docs") {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state -> Bool in
                    guard let free = state.free else { return true }
                    if free == 0 { state.waiting.append(continuation) }
                    state.free = max(free - 1, 0)
                    return free > 0
                }
                if passes { continuation.resume() }
            }
        }
        let response = try await transport.send(request)
        if request.method == "PUT", url.contains("_local") { state.withLock { $0.missingLogs -= 1 } }
        return response
    }
}
