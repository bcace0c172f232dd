internal import Settle

/// The schedule of a seed: replicas, their policies, and the steps.
struct SimulationSchedule: Sendable {
    let seed: UInt64
    let policies: [SimulatedPolicy]
    let documents: [DocumentID]
    /// Whether histories may be stemmed.
    let stems: Bool
    var steps: [SimulationStep]

    var replicas: Int { policies.count }

    init(seed: UInt64, _ options: SimulationOptions) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        let drawn = [2, 2, 3, 3, 3, 4, 4, 5, 6, 8][random.below(10)]
        let count = min(max(options.replicas ?? drawn, 2), 8)
        let common = random.pick(options.policies) ?? SimulatedPolicy.all[0]
        let isMixed = random.oneIn(3)
        policies = (0..<count).map { _ in isMixed ? random.pick(options.policies) ?? common : common }
        documents = ["a", "b"].prefix(random.oneIn(3) ? 2 : 1).map { DocumentID(stringLiteral: $0) }
        stems = random.oneIn(3) && options.stems
        let compacts = random.oneIn(2) && options.compacts
        let crashes = random.oneIn(2)
        let length = options.steps.lowerBound + random.below(options.steps.count)
        let stems = stems
        let kinds = Self.weights.filter { kind, _ in
            switch kind {
            case .compact: compacts
            case .limit: stems
            case .reopen: options.kind == .file
            case .editForeign, .setClock: options.attributeClocks
            default: true
            }
        }.flatMap { kind, weight in Array(repeating: kind, count: weight) }
        let documentCount = documents.count
        steps = (0..<length).map { _ in
            let replica = random.below(count)
            return SimulationStep(
                kind: random.pick(kinds) ?? .edit, replica: replica,
                peer: (replica + 1 + random.below(count - 1)) % count, document: random.below(documentCount),
                crashes: crashes && random.oneIn(12), number: random.next())
        }
    }

    private static let weights: [(SimulationStep.Kind, Int)] = [
        (.edit, 26), (.editLoser, 5), (.attach, 5), (.delete, 5), (.revive, 4), (.editAndDelete, 3), (.closeByHand, 4),
        (.exchange, 24), (.send, 6), (.deliver, 6), (.part, 2), (.meet, 3), (.settle, 8), (.settleAll, 5),
        (.compact, 3),
        (.limit, 3), (.reopen, 4), (.editForeign, 6), (.setClock, 5),
    ]
}

// MARK: - SimulationStep

/// One step of a schedule.
///
/// A step has an action, a replica, and a number that determines all details, such as which leaf is edited. So it
/// is valid after any earlier steps, and any step of a schedule can be removed.
public struct SimulationStep: Sendable, Hashable {
    /// The action.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A user edits the winner, or creates the document.
        case edit
        /// A user edits a leaf other than the winner.
        case editLoser
        /// A user adds, changes or removes an attachment.
        case attach
        /// A user deletes the winner, and so the document unless there are other leaves.
        case delete
        /// A user writes a deleted document again.
        case revive
        /// A user edits and then deletes, so that the deletion's parent is an edit that no other replica has seen.
        case editAndDelete
        /// A user settles a conflict manually as with CouchDB: by tombstones without a mark.
        case closeByHand
        /// A replica gets revisions from another one immediately, possibly only in part, twice, or in another
        /// order.
        case exchange
        /// A replica reads revisions from another one, which arrive later or never.
        case send
        /// A message that was sent arrives, possibly for the second time.
        case deliver
        /// The replicas are split into two groups that can't communicate.
        case part
        /// All replicas can communicate again.
        case meet
        /// A replica settles the conflict of one document.
        case settle
        /// A replica settles all conflicts.
        case settleAll
        /// Software without clocks edits the winner.
        case editForeign
        /// A replica's wall clock is set forward or back, by up to a day.
        case setClock
        /// A replica removes old contents by compaction.
        case compact
        /// A replica starts to keep only a few revisions of each branch.
        case limit
        /// A replica's database is closed and opened again, if it is in a file.
        case reopen
    }

    /// The action.
    public let kind: Kind
    /// The replica that runs it.
    public let replica: Int
    /// The other replica that takes part.
    public let peer: Int
    /// The document.
    public let document: Int
    /// Whether the replica crashes in the middle of the transaction, which is rolled back.
    public let crashes: Bool
    /// Determines the details.
    public let number: UInt64
}

// MARK: - SimulationOptions

/// The parameters of schedules. Those that are not given are drawn from each schedule's seed.
public struct SimulationOptions: Sendable {
    /// The number of replicas, from 2 to 8; drawn by default.
    public var replicas: Int?
    /// The number of steps in a schedule.
    public var steps: ClosedRange<Int> = 6...36
    /// The policies of replicas. Most schedules use one of them everywhere, and others draw one for each replica.
    public var policies: [SimulatedPolicy] = SimulatedPolicy.all
    /// The storage of the replicas' databases; in files a crash is a real reopening.
    public var kind: DatabaseKind = .memory
    /// Whether some schedules stem old revisions: by small revision limits, and by partial histories.
    public var stems = true
    /// Whether some schedules compact databases.
    public var compacts = true
    /// Whether replicas stamp users' changes with their times. Then their wall clocks differ by up to a day and are
    /// set forward and back, and some edits are made by software without clocks.
    public var attributeClocks = false

    /// Creates options that draw everything from the seed.
    public init() {}
}
