internal import Dispatch
internal import SettleCore
package import SettleDatabase
internal import SettlePlatform

/// A database in memory that several nodes share, as if each were a process of its own and the store a database server.
///
///     let store = try SharedStore(clock)
///     let (one, other) = (try store.node("one"), try store.node("other"))
///     one.isCut = true            // no call of this node reaches the store from now on
///     store.contents.kill("one")  // the pins of this node run out
package final class SharedStore: Sendable {
    private struct State {
        var nodes: [WeakEngine] = []
        /// The node that wrote last.
        weak var writer: SharedEngine?
        var newest: UpdateSequence = 0
        var reads = 0
        var isDeleted = false
        var restoredTokens: [UInt64] = []
        var names = 0
    }

    private struct WeakEngine {
        weak var engine: SharedEngine?
    }

    /// The engine in which everything is, for tests that look behind the nodes.
    package let engine: any RestorableStorage & MaintainedStorage
    /// The large contents of attachments.
    package let contents = SharedContents()
    package let leases: SharedLeases
    let network: SharedNetwork
    private let delay: Duration?
    private let state = Guarded(State())

    /// Creates an empty database.
    ///
    /// - Parameters:
    ///   - clock: The clock of its leases.
    ///   - network: The way from nodes to the store.
    ///   - delay: The time after which a node hears of a commit of another one, if it does not ask earlier; `nil` for at once.
    /// - Throws: ``DatabaseError`` of the storage.
    package init(
        _ clock: some Clock<Duration> = ContinuousClock(), network: SharedNetwork = SharedNetwork(),
        delay: Duration? = nil
    ) throws {
        guard let engine = try SQLiteStorage.inMemory() as? any RestorableStorage & MaintainedStorage else {
            throw DatabaseError(.invalid, "the engine in memory can't be shared")
        }
        (self.engine, self.network, self.delay) = (engine, network, delay)
        leases = SharedLeases(clock)
        engine.onCommit { [weak self] notice in self?.announce(notice.sequence) }
    }

    /// Creates a node, with a name of its own by default.
    package func node(_ name: String? = nil) throws -> SharedNode { try SharedNode(engine(of: name)) }

    /// Creates the engine of a node.
    package func engine(of name: String? = nil, longestID: Int = 10_000) -> SharedEngine {
        state.withLock { state in
            state.names += 1
            let engine = SharedEngine(self, node: name ?? "node \(state.names)", longestID: longestID)
            state.nodes.removeAll { $0.engine == nil }
            state.nodes.append(WeakEngine(engine: engine))
            return engine
        }
    }

    /// The number of times that nodes have read.
    package var reads: Int { state.withLock(\.reads) }

    /// The tokens of contents that exact copies have brought.
    package var restoredTokens: [UInt64] { state.withLock(\.restoredTokens) }

    /// Whether the database was deleted; calls of all nodes throw `closed` then.
    package var isDeleted: Bool { state.withLock(\.isDeleted) }

    /// Deletes the database.
    package func delete() { state.withLock { $0.isDeleted = true } }

    func countRead() { state.withLock { $0.reads += 1 } }

    func append(restoredToken token: UInt64) { state.withLock { $0.restoredTokens.append(token) } }

    /// Remembers whose changes the next commit has.
    func write(by node: SharedEngine) { state.withLock { $0.writer = node } }

    /// Notifies the nodes of a commit.
    private func announce(_ sequence: UpdateSequence) {
        let (writer, others, changesDocuments) = state.withLock { state in
            defer { state.newest = sequence }
            let writer = state.writer
            let others = state.nodes.compactMap(\.engine).filter { $0 !== writer }
            return (writer, others, sequence != state.newest)
        }
        for other in others { other.miss(sequence, changesDocuments: changesDocuments) }
        writer?.notify(CommitNotice(sequence: sequence, changesDocuments: changesDocuments))
        guard let delay else {
            for other in others { other.hear() }
            return
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1)))) {
            for other in others { other.hear() }
        }
    }
}

/// A node of a ``SharedStore``.
package final class SharedNode: Sendable {
    package let engine: SharedEngine
    /// The database as this node has it open.
    package let database: Database

    fileprivate init(_ engine: SharedEngine) throws {
        self.engine = engine
        database = try Database.make(on: engine)
    }

    package var name: String { engine.node }

    /// Whether the storage can't be reached.
    package var isCut: Bool {
        get { engine.link.isDown }
        set { engine.link.isDown = newValue }
    }

    /// The number of calls that have failed because it could not be reached.
    package var failures: Int { engine.link.failures }
}

/// The way from nodes to a store.
package final class SharedNetwork: Sendable {
    private let state = Guarded((isDown: false, failures: 0, questions: 0))

    /// Creates one that works.
    package init() {}

    /// Whether no call passes.
    package var isDown: Bool {
        get { state.withLock(\.isDown) }
        set { state.withLock { $0.isDown = newValue } }
    }

    /// The number of calls that have failed.
    package var failures: Int { state.withLock(\.failures) }

    /// The number of times that nodes asked what others have changed.
    package var questions: Int { state.withLock(\.questions) }

    /// Fails while it is down, with a message that no client may see.
    package func pass() throws {
        let isDown = state.withLock { state in
            if state.isDown { state.failures += 1 }
            return state.isDown
        }
        if isDown { throw DatabaseError(.unavailable, "no route to the host db-7.internal") }
    }

    /// Counts a question, or fails while it is down.
    package func ask() throws {
        try pass()
        state.withLock { $0.questions += 1 }
    }
}
