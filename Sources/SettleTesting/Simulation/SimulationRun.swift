internal import Settle

/// The execution of one schedule.
final class SimulationRun {
    /// A message that was sent and may still arrive.
    struct Message {
        let source: Int
        let target: Int
        let parcels: [SimulatedParcel]
    }

    let schedule: SimulationSchedule
    let replicas: [SimulatedReplica]
    var ledgers: [DocumentID: SimulationLedger] = [:]
    /// The stamps of each document.
    var stamps: [DocumentID: StampLedger] = [:]
    var inFlight: [Message] = []
    /// Whether any part of a tree was stemmed, or was not sent.
    var isStemmed = false
    var isCompacted = false
    /// The revisions that replicas wrote, by leaves and policy.
    var answers: [SettlingQuestion: SettlingAnswer] = [:]
    var outcome = SimulationOutcome()
    /// A log of the run as readable text; `nil` if it is not needed.
    var story: [String]?

    init(
        _ schedule: SimulationSchedule, _ databases: [TemporaryDatabase], _ clocks: [SimulatedClock], tells: Bool
    ) {
        self.schedule = schedule
        replicas = schedule.policies.enumerated().map { index, policy in
            SimulatedReplica(
                index, policy, databases[index], clocks.indices.contains(index) ? clocks[index] : nil,
                seed: schedule.seed)
        }
        story = tells ? [] : nil
    }

    /// Runs the schedule, lets all replicas exchange and settle until none writes, and checks the result.
    func go() throws {
        for (number, step) in schedule.steps.enumerated() {
            log("\(number + 1). \(describe(step))")
            try wrapping { try run(step) }
            outcome.steps += 1
        }
        log("then all exchange everything and settle")
        try wrapping {
            try calmDown()
            try check()
        }
        outcome.revisions = ledgers.values.reduce(0) { $0 + $1.entries.count }
        outcome.settling = ledgers.values.reduce(0) { $0 + $1.settling }
    }

    private func describe(_ step: SimulationStep) -> String {
        let peer = [.exchange, .send].contains(step.kind) ? " with replica \(step.peer)" : ""
        return "replica \(step.replica): \(step.kind.rawValue)\(peer)"
    }

    /// Adds a line to the log.
    func log(_ line: @autoclosure () -> String) { story?.append(line()) }

    private func wrapping(_ body: () throws -> Void) throws {
        do { try body() } catch let error as SimulationProblem { throw error } catch {
            throw SimulationProblem(.noErrors, "\(error)")
        }
    }

    func expect(_ isTrue: Bool, _ rule: SimulationRule, _ message: @autoclosure () -> String) throws {
        if !isTrue { throw SimulationProblem(rule, message()) }
    }

    /// Records the revisions that a replica has written of a document.
    func record(
        _ id: DocumentID, on replica: SimulatedReplica, ofUser: Bool, parents: [RevisionID: RevisionID] = [:]
    ) throws {
        var ledger = ledgers[id] ?? SimulationLedger()
        let tree = try replica.tree(id)
        for node in tree.allNodes {
            if ledger.entries[node.revision] == nil {
                let closed = node.isDeleted ? try replica.database.document(id, revision: node.revision) : nil
                let survivor = closed?["$closed"]?.string.flatMap { RevisionID($0) }
                ledger.record(
                    node.revision,
                    .init(
                        parent: parents[node.revision] ?? tree.parent(of: node.revision), isDeleted: node.isDeleted,
                        survivor: survivor,
                        isOfUser: ofUser && survivor == nil))
                let closes = survivor.map { ", which closes its branch for \($0)" } ?? ""
                log("    \(id) \(node.revision)\(node.isDeleted ? " (deleted)" : "")\(closes)")
            }
        }
        ledgers[id] = ledger
    }
}

/// The revisions that a replica wrote to settle a conflict.
struct SettlingAnswer {
    let replica: Int
    let written: [RevisionID]
}

/// A broken rule, thrown where it is detected.
struct SimulationProblem: Error {
    let rule: SimulationRule
    let message: String

    init(_ rule: SimulationRule, _ message: String) {
        self.rule = rule
        self.message = message
    }
}

/// The stamps of all changes, against which the final values are checked.
///
/// Every change by a user has a time. Whatever the order of exchanging and settling, and however the wall clocks
/// are set, each path of the document must end with its latest change, or be inside a value that was written as a
/// whole after it.
struct StampLedger {
    /// The latest time of each path.
    var latest: [String: AttributeClock] = [:]
    /// The top-level members that software without clocks has changed.
    var foreign: Set<String> = []
    /// Whether such software has dropped the clocks of the whole document.
    var lostClocks = false

    /// Whether the stamps of a path are known.
    func covers(_ path: String) -> Bool { !foreign.contains { path == "/\($0)" || path.hasPrefix("/\($0)/") } }
}

/// All inputs of a pure policy: replicas with equal inputs write the same revisions.
struct SettlingQuestion: Hashable {
    let policy: String
    let documentID: DocumentID
    /// All leaves, including tombstones.
    let leaves: [RevisionID]
    /// The leaves to settle.
    let concerned: [RevisionID]
    /// The revisions at which their branches part.
    let branchPoints: [RevisionID]

    init(_ conflict: Conflict, of policy: SimulatedPolicy) {
        self.policy = policy.name
        documentID = conflict.documentID
        leaves = conflict.tree.leaves.map(\.revision)
        concerned = conflict.leaves.compactMap(\.revision)
        branchPoints = conflict.tree.branchPoints
    }
}
