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
            case .editForeign, .setClock: options.fieldClocks
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
