internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// A revision that a client wants of a page of changes, and the message that brings it.
struct PulledRevision: Sendable {
    let id: DocumentID
    let revision: RevisionID
    let sequence: UpdateSequence
    let isDeleted: Bool
    /// The version vector of the revision, for a client that knows those.
    private let vector: VersionVector?
    /// How the client knows the revision.
    private let name: String
    /// The revision as it was read when it was offered, if it is small; so most are read once.
    var stored: ReplicatedRevision?
    /// The number of ancestors that the client wants to know.
    var maximumHistory = RevisionHistory.maximumInMessage
    /// Whether such a client knows the document by an id of a tree.
    var isKnownByID = false

    /// The winner of a document, to be offered at a position, by default at that of its change; `nil` if its revisions can't be read.
    init?(_ record: DocumentRecord, at sequence: UpdateSequence? = nil, usesVersions: Bool) {
        guard let winner = record.tree.winner else { return nil }
        (id, revision, self.sequence) = (record.id, winner.revision, sequence ?? record.sequence)
        isDeleted = winner.isDeleted
        vector = usesVersions ? VersionVector(record.tree) : nil
        name = vector?.revision ?? revision.description
    }

    /// Whether it is one of some edits with ids of a tree, and is offered under the version that stands for that id.
    func isOne(of edits: Set<UpgradedEdits.Edit>) -> Bool {
        vector?.current == DocumentVersion(revision)
            && edits.contains(UpgradedEdits.Edit(id: id, name: revision.description))
    }

    /// The reason why no message can name it; `nil` if one can.
    var fault: String? { refusal(.http(500, ""), ["collection": "\(Int.max)"]).fault }

    /// Its row in the message `changes`.
    var row: JSONValue {
        let row: [JSONValue] = [.number(JSONNumber(sequence.number)), .string(id.string), .string(name)]
        return .array(isDeleted ? row + [1] : row)
    }

    /// The message `rev`; the silent message `norev` with the reason if the revision can't be sent.
    func message(
        _ stored: Result<ReplicatedRevision?, DatabaseError>, _ attachments: MobileAttachments,
        _ own: [String: String]
    ) -> BLIPMessage {
        var properties = properties(own)
        do {
            guard let found = try stored.get() else { throw HTTPError.missing }
            let stubs = try attachments.stubs(of: found)
            properties["Profile"] = "rev"
            if found.isDeleted { properties["deleted"] = "1" }
            let history =
                vector?.history(ids: isKnownByID ? maximumHistory : 0) ?? found.history.ancestors(most: maximumHistory)
            if !history.isEmpty { properties["history"] = history }
            let message = BLIPMessage(properties: properties, body: found.body.message(listing: stubs))
            if let fault = message.fault { throw BLIPError.http(400, fault) }
            return message
        } catch { return refusal(MobileSession.blipError(for: error), own) }
    }

    /// The message `norev` with a reason. A reason that no message can carry is left out.
    private func refusal(_ error: BLIPError, _ own: [String: String]) -> BLIPMessage {
        var properties = properties(own)
        (properties["Profile"], properties["error"]) = ("norev", "\(error.code)")
        properties["reason"] = error.description
        let message = BLIPMessage(properties: properties, isSilent: true)
        guard message.fault != nil else { return message }
        properties["reason"] = ""
        return BLIPMessage(properties: properties, isSilent: true)
    }

    /// The properties of all messages that bring it.
    private func properties(_ own: [String: String]) -> [String: String] {
        own.merging(["id": id.string, "rev": name, "sequence": "\(sequence.number)"]) { $1 }
    }
}
