internal import Settle
import SettleCore
import SettleDatabase

extension SimulationRun {
    /// Reads the revisions that another replica lacks, in pieces and with accidents.
    func pack(
        for target: SimulatedReplica, from source: SimulatedReplica, _ random: inout SeededRandom
    ) throws -> Message {
        let since = random.oneIn(6) ? 0 : target.seen[source.index] ?? 0
        let limit = random.oneIn(5) ? 1 : nil
        let changes = try source.database.changes(since: since, limit: limit, style: .allLeaves)
        let drops = random.oneIn(6)
        let skipsDiff = random.oneIn(5)
        var parcels: [SimulatedParcel] = []
        for change in changes {
            let missing = try target.database.revisionsDiff([(change.id, change.leaves)]).flatMap(\.missing)
            for leaf in change.leaves where skipsDiff || missing.contains(leaf) {
                if drops, random.oneIn(2) { continue }
                let cuts = schedule.stems && random.oneIn(4)
                if cuts { isStemmed = true }
                let historyLimit = cuts ? 1 + random.below(4) : .max
                let parcel = try SimulatedParcel(leaf, of: change, from: source.database, historyLimit: historyLimit)
                if let parcel { parcels.append(parcel) }
            }
        }
        if random.oneIn(4) { parcels.shuffle(using: &random) }
        if random.oneIn(6), let twice = random.pick(parcels) { parcels.append(twice) }
        if !drops, let last = changes.last { target.seen[source.index] = max(last.sequence, since) }
        return Message(source: source.index, target: target.index, parcels: parcels)
    }

    /// Delivers a message, in one batch or several.
    func deliver(_ message: Message, inPieces: Bool = false) throws {
        let (source, target) = (replicas[message.source], replicas[message.target])
        let batches = inPieces ? message.parcels.map { [$0] } : [message.parcels]
        for batch in batches where !batch.isEmpty {
            let revisions = try batch.map { try $0.unpacked(in: target.database) }
            let outcomes = try target.database.insertReplicated(revisions)
            for (revision, outcome) in zip(revisions, outcomes) {
                if case .refused(let error) = outcome { throw error }
                log("    \(target.index) gets \(revision.id) \(revision.history.revision) from \(source.index)")
            }
            try source.database.markShared(revisions.map { ($0.id, $0.history.revision) })
        }
    }

    /// Copies everything from one replica to another. If revisions were stemmed, common revisions are sent too,
    /// because of the path that leads to them.
    func exchangeAll(from source: SimulatedReplica, to target: SimulatedReplica) throws {
        var parcels: [SimulatedParcel] = []
        for change in try source.database.changes(style: .allLeaves) {
            let wanted =
                isStemmed
                ? change.leaves : try target.database.revisionsDiff([(change.id, change.leaves)]).flatMap(\.missing)
            for leaf in wanted {
                if let parcel = try SimulatedParcel(leaf, of: change, from: source.database) { parcels.append(parcel) }
            }
        }
        try deliver(Message(source: source.index, target: target.index, parcels: parcels))
    }

    /// Fetches the contents that a merge needs from all other replicas.
    func fetchBases(for replica: SimulatedReplica) throws {
        guard replica.policy.settles == .whereBasesAreKept else { return }
        for id in schedule.documents where try replica.tree(id).isConflicted {
            for base in try replica.missingBases(id).revisions {
                for other in replicas where other !== replica {
                    guard let parcel = try SimulatedParcel(base: base, of: id, from: other.database) else { continue }
                    log("    \(replica.index) asks \(other.index) for the base \(id) \(base)")
                    try replica.database.insertReplicated([parcel.unpacked(in: replica.database)])
                    break
                }
            }
        }
    }
}

// MARK: - SimulatedParcel

/// A revision on its way from one replica to another, with the contents of its attachments.
struct SimulatedParcel {
    var revision: ReplicatedRevision
    var contents: [[UInt8]]

    /// Reads a revision, with the part of its history to send; `nil` if its content is not kept.
    init?(_ revision: RevisionID, of change: Change, from database: Database, historyLimit: Int = .max) throws {
        guard let document = try database.document(change.id, revision: revision),
            let history = try database.tree(of: change.id)?.history(of: revision, limit: historyLimit)
        else { return nil }
        self.revision = ReplicatedRevision(
            id: change.id, history: history, isDeleted: document.isDeleted, body: try document.body(),
            attachments: document.attachments)
        self.revision.isDeletionAtSource = change.isDeleted && change.winner == revision
        contents = try document.attachments.map { try database.content(of: $0) }
    }

    /// Reads the content of an inner revision, for a replica that needs it as a base.
    init?(base revision: RevisionID, of id: DocumentID, from database: Database) throws {
        guard let document = try database.document(id, revision: revision),
            let history = try database.tree(of: id)?.history(of: revision)
        else { return nil }
        self.revision = ReplicatedRevision(
            id: id, history: history, isDeleted: document.isDeleted, body: try document.body(),
            attachments: document.attachments)
        contents = try document.attachments.map { try database.content(of: $0) }
    }

    /// The revision for another database, which needs the attachments' contents.
    func unpacked(in database: Database) throws -> ReplicatedRevision {
        var unpacked = revision
        unpacked.attachments = try zip(revision.attachments, contents).map { attachment, content in
            let made = try database.makeAttachment(
                attachment.name, contentType: attachment.contentType, content: content)
            return try made.described(
                as: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos)
        }
        return unpacked
    }
}
