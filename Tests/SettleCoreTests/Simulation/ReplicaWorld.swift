import SettleCore
import SettleTesting

/// A few replicas of one document that are edited independently, replicate at random, stem, and mark their revisions.
///
/// Ids are honest: an id has the same parent on every replica, and the same edit has the same id everywhere.
struct ReplicaWorld {
    private(set) var replicas: [RevisionTree]
    private(set) var log: [String] = []
    var random: SeededRandom
    private var parents: [RevisionID: RevisionID?] = [:]

    /// Creates a world after a number of random steps.
    init(seed: UInt64, steps: Int = 40, stems: Bool = true) {
        random = SeededRandom(seed: seed)
        replicas = [RevisionTree](repeating: RevisionTree(), count: 3)
        for _ in 0..<steps { step(stems: stems) }
    }

    private mutating func step(stems: Bool) {
        let replica = Int.random(in: replicas.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<60: edit(replica)
        case 60..<72: replicate(to: replica)
        case 72..<80:
            let source = Int.random(in: replicas.indices, using: &random)
            replicas[replica].merge(replicas[source])
            log.append("\(replica) merges \(source)")
        case 80..<88 where stems:
            let limit = Int.random(in: 1...5, using: &random)
            replicas[replica].stem(to: limit)
            log.append("\(replica) stems to \(limit)")
        default: mark(replica)
        }
    }

    /// An edit, mostly on a leaf, sometimes on an inner revision or as a new root.
    private mutating func edit(_ replica: Int) {
        let leaves = replicas[replica].leaves.map(\.revision)
        var parent = leaves.randomElement(using: &random)
        if random.chance(15) { parent = replicas[replica].revisions.randomElement(using: &random) }
        if random.chance(4) { parent = nil }
        let isDeleted = parent != nil && random.chance(20)
        let revision = name(on: parent, isDeleted: isDeleted)
        if let known = parents[revision], known != parent { return }
        parents.updateValue(parent, forKey: revision)
        let edited = try? replicas[replica].insert(revision, parent: parent, isDeleted: isDeleted)
        if edited != nil { log.append("\(replica) writes \(revision) on \(parent?.description ?? "-")") }
    }

    /// The id of one of three possible edits, in one of CouchDB's forms.
    private mutating func name(on parent: RevisionID?, isDeleted: Bool) -> RevisionID {
        let content = UInt64.random(in: 0..<3, using: &random) * 2 + (isDeleted ? 1 : 0)
        let above =
            parent.map { $0.signature.rawBytes.reduce($0.generation) { SeededRandom.mix($0 ^ UInt64($1)) } } ?? 7
        let bits = SeededRandom.mix(above &+ content &* 0x9E37_79B9)
        let generation = (parent?.generation ?? 0) + 1
        let digest = RevisionSignature(high: bits, low: SeededRandom.mix(bits)).description
        switch (bits >> 20) % 5 {
        case 0: return RevisionID(stringLiteral: "\(generation)-\(digest)01234567")
        case 1: return RevisionID(stringLiteral: "\(generation)-\(digest.prefix(3))")
        default: return RevisionID(stringLiteral: "\(generation)-\(digest)")
        }
    }

    /// Replicates some leaf's path, complete or only its newest part, to a replica.
    private mutating func replicate(to replica: Int) {
        let source = Int.random(in: replicas.indices, using: &random)
        guard let leaf = replicas[source].leaves.randomElement(using: &random) else { return }
        let limit = random.chance(50) ? Int.max : Int.random(in: 1...4, using: &random)
        guard let history = replicas[source].history(of: leaf.revision, limit: limit) else { return }
        replicas[replica].insert(history, isDeleted: leaf.isDeleted)
        log.append("\(replica) pulls \(history.revisions) from \(source)")
    }

    private mutating func mark(_ replica: Int) {
        guard let revision = replicas[replica].revisions.randomElement(using: &random) else { return }
        replicas[replica].markShared(revision)
        replicas[replica].setBodyToken(UInt64.random(in: 0...300, using: &random), of: revision)
        let marks = RevisionMarks(rawValue: random.chance(50) ? UInt8.random(in: 1...7, using: &random) : 0)
        replicas[replica].mark(revision, marks)
        log.append("\(replica) marks \(revision) with \(marks.rawValue)")
    }
}
