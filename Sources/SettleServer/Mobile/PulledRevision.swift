internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// A revision that a client wants of a page of changes, and the message that brings it.
struct PulledRevision: Sendable {
    let id: DocumentID
    let revision: RevisionID
    let sequence: UpdateSequence
    let isDeleted: Bool
    /// What the revision has seen, for a client that knows version vectors.
    private let vector: VersionVector?
    /// How the client knows the revision.
    private let name: String
    /// The revision as it was read when it was offered, if it is small; so most are read once.
    var stored: Database.StoredRevision?
    /// How many ancestors the client wants to know.
    var mostHistory = RevisionHistory.mostInMessage
    /// Whether such a client knows the document by an id of a tree.
    var isKnownByID = false

    /// The winner of a document; `nil` if its revisions can't be read.
    init?(_ record: DocumentRecord, usesVersions: Bool) {
        guard let winner = record.tree.winner else { return nil }
        (id, revision, sequence) = (record.id, winner.revision, record.sequence)
        isDeleted = winner.isDeleted
        vector = usesVersions ? VersionVector(record.tree) : nil
        name = vector?.revision ?? revision.description
    }

    /// What the message `changes` says of it.
    var row: JSONValue {
        let row: [JSONValue] = [.number(JSONNumber(sequence.number)), .string(id.string), .string(name)]
        return .array(isDeleted ? row + [1] : row)
    }

    /// The message `rev`; the silent message `norev` with the reason if the revision can't be sent.
    func message(
        _ stored: Result<Database.StoredRevision?, DatabaseError>, _ attachments: MobileAttachments,
        _ own: [String: String]
    ) -> BLIPMessage {
        var properties = own
        properties["id"] = id.string
        properties["rev"] = name
        properties["sequence"] = "\(sequence.number)"
        do {
            guard let found = try stored.get() else { throw HTTPError.missing }
            let stubs = try attachments.stubs(of: found.content, generation: revision.generation)
            properties["Profile"] = "rev"
            if found.isDeleted { properties["deleted"] = "1" }
            let history =
                vector?.history(ids: isKnownByID ? mostHistory : 0) ?? found.history.ancestors(most: mostHistory)
            if !history.isEmpty { properties["history"] = history }
            return BLIPMessage(properties: properties, body: MobileStub.body(found.content.body, listing: stubs))
        } catch {
            let refusal = MobileSession.blipError(for: error)
            properties["Profile"] = "norev"
            (properties["error"], properties["reason"]) = ("\(refusal.code)", refusal.description)
            return BLIPMessage(properties: properties, isSilent: true)
        }
    }
}
