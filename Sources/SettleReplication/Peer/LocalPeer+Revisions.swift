internal import SettleCore
internal import SettleDatabase

extension LocalPeer {
    /// Attachments with up to this many stored bytes are returned with their revision; larger ones are streamed.
    static let largestInMemory: Int64 = 16 * 1024

    /// The content of revisions, all from one snapshot of the database; see ``Peer/revisions(_:budget:)``.
    public func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer] {
        try await perform { database in
            var answers: [RevisionAnswer] = []
            answers.reserveCapacity(requests.count)
            var rest = budget
            try database.forEachRevision(requests.map { ($0.id, $0.revision, $0.knownAncestors) }) { stored in
                let request = requests[answers.count]
                if case .failure(let error) = stored {
                    answers.append(.failed(PeerError(error, of: name)))
                    return answers.count < requests.count
                }
                guard let stored = try stored.get() else {
                    answers.append(.missing(reason: "the content of \(request.revision) is not kept at \(name)"))
                    return answers.count < requests.count
                }
                answers.append(try answer(request, stored))
                if case .found(let revision) = answers.last { rest -= revision.bytesInMemory }
                return rest > 0
            }
            return answers
        }
    }

    private func answer(_ request: RevisionRequest, _ stored: Database.StoredRevision) throws -> RevisionAnswer {
        do {
            let attachments = try stored.content.attachments.map { attachment in
                PeerAttachment(
                    name: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos,
                    digest: attachment.digest, length: attachment.length, encodedLength: attachment.encodedLength,
                    encoding: attachment.encoding,
                    content: stored.known?.contains(attachment) ?? false ? .stub : try content(of: attachment))
            }
            return .found(
                PeerRevision(
                    id: request.id, history: stored.history, isDeleted: stored.isDeleted,
                    isDeletionAtSource: request.isDeletionAtSource, body: stored.content.body,
                    attachments: attachments))
        } catch let error as DatabaseError where error.code == .attachmentMissing {
            return .failed(PeerError(error, of: name))
        }
    }

    private func content(of attachment: DocumentAttachment) throws -> PeerAttachment.Content {
        guard attachment.encodedLength <= Self.largestInMemory else {
            return .source(LocalAttachmentSource(peer: self, attachment: attachment))
        }
        return .bytes(try local.attachmentReader(for: attachment, encoded: true).readAll())
    }
}
