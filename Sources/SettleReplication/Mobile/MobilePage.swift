internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// A message `changes` of a server: `[[sequence, docID, revID, flags?, size?], …]`, and which of it is wanted.
struct MobilePage {
    /// One row.
    struct Row {
        /// The change; `nil` for a row with an id that no database accepts.
        let change: ChangedDocument?
        /// The ancestors that are here if the revision is wanted; `nil` if it is not.
        var ancestors: [RevisionID]?
        /// Whether it is known if the revision is wanted.
        var isDecided: Bool
    }

    /// Whether a change is wanted.
    struct Verdict {
        let change: ChangedDocument
        /// The ancestors that are at the target; `nil` if the target lacks nothing.
        let ancestors: [RevisionID]?
    }

    /// The message, to be answered.
    let message: BLIPMessage
    private(set) var rows: [Row]
    /// How many ancestors are named at most, and how many a history may have.
    private static let mostAncestors = 20
    private static let mostHistory = 1000

    /// Reads a message.
    ///
    /// - Throws: `JSONError` or ``WireFault`` for a body that is no list of changes.
    init(_ message: BLIPMessage) throws {
        self.message = message
        let body = message.body.isEmpty ? .null : try JSONValue(utf8: message.body)
        // Sync Gateway's list without rows is null.
        guard let rows = body.isNull ? [] : body.array else { throw WireFault("the changes are no list") }
        self.rows = rows.map { row in
            guard let sequence = row[0], let id = row[1]?.string.map({ DocumentID(unchecked: $0) }), !id.isLocal,
                let revision = row[2]?.string.flatMap({ RevisionID($0) })
            else { return Row(change: nil, isDecided: true) }
            let flags = row[3]?.bool.map { $0 ? 1 : 0 } ?? row[3]?.int ?? 0
            var change = ChangedDocument(
                sequence: PeerSequence(sequence), id: id, leaves: [revision], isDeleted: flags & 1 != 0)
            // Removed from all channels, or the user may not read it any more.
            change.mayHaveLeft = flags & 6 != 0
            return Row(change: change, isDecided: false)
        }
    }

    /// Whether it is known of all rows if their revisions are wanted.
    var isDecided: Bool { rows.allSatisfy(\.isDecided) }

    /// Decides each row by the revisions that the target lacks.
    ///
    /// - Parameters:
    ///   - verdicts: The changes that were compared, by their documents.
    ///   - later: The documents of which a later row is decided; it stands for the earlier ones. Those of this page are added.
    mutating func decide(_ verdicts: [DocumentID: Verdict], later: inout Set<DocumentID>) {
        for index in rows.indices.reversed() where !rows[index].isDecided {
            guard let change = rows[index].change, let verdict = verdicts[change.id] else { continue }
            if verdict.change == change {
                later.insert(change.id)
                rows[index].isDecided = true
                rows[index].ancestors = verdict.ancestors.map { Array($0.prefix(Self.mostAncestors)) }
            } else if later.contains(change.id) {
                rows[index].isDecided = true
            }
        }
    }

    /// Decides the other rows: they are not wanted.
    mutating func decideRest() { for index in rows.indices { rows[index].isDecided = true } }

    /// Whether it is not known yet if a revision is wanted.
    func isUndecided(_ key: MobileSubscription.Key) -> Bool {
        rows.contains { !$0.isDecided && $0.change?.id == key.id && $0.change?.leaves.first == key.revision }
    }

    /// The revisions that are wanted.
    var wanted: [MobileSubscription.Key] {
        rows.compactMap { row in
            guard row.ancestors != nil, let change = row.change, let revision = change.leaves.first else { return nil }
            return MobileSubscription.Key(id: change.id, revision: revision)
        }
    }

    /// The answer: a list of the known ancestors for each wanted revision, and 0 for the others.
    var answer: BLIPMessage {
        let elements = rows.map { row -> JSONValue in
            row.ancestors.map { .array($0.map { .string($0.description) }) } ?? 0
        }
        return BLIPMessage(
            .reply, properties: ["maxHistory": "\(Self.mostHistory)", "blobs": "true"],
            body: JSONValue.array(elements).utf8)
    }
}
