internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// A revision that is proposed to a server, and the rest of its document.
struct MobileProposal: Sendable {
    /// A leaf of the document, and its index in the call that stores it.
    typealias Leaf = (index: Int, revision: PeerRevision)

    /// The server's answer to a proposal: 0 to send the revision, 304 if it is known, 409 if the server has another
    /// revision, which current servers name.
    struct Answer {
        let code: Int
        let current: RevisionID?
        /// Whether the server names its revision. A database with version vectors names a version, which no tree
        /// has.
        let namesCurrent: Bool

        init(_ json: JSONValue?) {
            code = json?.int ?? json?["status"]?.int ?? 0
            let name = code == 409 ? json?["rev"]?.string : nil
            (current, namesCurrent) = (name.flatMap { RevisionID($0) }, name != nil)
        }
    }

    /// The next step after an answer.
    enum Step {
        case nothing
        /// Send the revision: the server requests it.
        case send
        /// Propose a descendant of the server's revision.
        case propose(MobileProposal)
        /// The server refuses the revision.
        case refuse
    }

    /// The leaves of the document.
    let leaves: [Leaf]
    let index: Int
    let revision: PeerRevision
    /// The ancestor of this revision that the server has, if it is known.
    let known: RevisionID?

    /// Proposes the winner of a document's leaves.
    init(_ leaves: [Leaf]) {
        self.leaves = leaves
        (index, revision) = leaves[MobileWinner.place(among: leaves.map(\.revision))]
        known = nil
    }

    /// Proposes the winner as a descendant of the server's revision; `nil` if a conflict with that revision was not
    /// settled here.
    private init?(_ first: MobileProposal, onto current: RevisionID) {
        guard let moved = MobileWinner.descendant(of: current, among: first.leaves.map(\.revision)) else { return nil }
        (leaves, index, revision, known) = (first.leaves, first.index, moved, current)
    }

    /// The row of the message `proposeChanges`.
    ///
    /// If a document is deleted at the server, the server accepts any revision of it, unless the row names a
    /// parent. So an edit beside a deletion names its own parent, or itself if it has none; then the server answers
    /// with its deletion.
    var row: JSONValue {
        let isBesideDeletion = leaves.contains { $0.revision.isDeleted && $0.index != index }
        let own = revision.history.revisions.dropFirst().first ?? revision.revision
        let parent = known ?? (isBesideDeletion ? own : nil)
        let row = [revision.id.string, revision.revision.description] + [parent?.description].compactMap(\.self)
        return .array(row.map { .string($0) })
    }

    /// The size of the attachments' contents in bytes, expanded if they are compressed. They are in memory while the
    /// revision is being sent; contents that are too large to be sent are not.
    var contentBytes: Int {
        revision.attachments.reduce(0) { sum, attachment in
            let length = Int(clamping: max(attachment.length, attachment.encodedLength))
            return sum + min(length, MobileLimits.largestContent)
        }
    }

    /// Decides the next step from the server's answer.
    func step(after answer: Answer) -> Step {
        switch answer.code {
        case 0: return .send
        case 304: return .nothing
        case 409 where known == nil:
            // An older server does not name its revision, and accepts a descendant of it together with the
            // ancestors.
            guard let current = answer.current else { return answer.namesCurrent ? .refuse : .send }
            // Both sides have deleted the document, each on its own branch.
            if revision.isDeleted, leaves.contains(where: { $0.revision.revision == current && $0.revision.isDeleted })
            {
                return .nothing
            }
            return MobileProposal(self, onto: current).map { .propose($0) } ?? .refuse
        default: return .refuse
        }
    }
}

// MARK: - MobileWinner

/// Decides which leaf of a document is sent to a server that keeps one branch, and under which id.
enum MobileWinner {
    /// The index of the winner among the leaves of a document (SEMANTICS 63).
    static func place(among leaves: [PeerRevision]) -> Int {
        guard leaves.count > 1 else { return 0 }
        var tree = RevisionTree()
        for leaf in leaves { _ = tree.insert(leaf.history, isDeleted: leaf.isDeleted) }
        return leaves.firstIndex { $0.revision == tree.winner?.revision } ?? 0
    }

    /// The winner as a descendant of the server's revision: itself, or the settlement of a conflict with that
    /// revision. An edit that was made apart from a deletion at the server wins against the deletion (SEMANTICS
    /// 63), and needs no settlement.
    ///
    /// - Returns: `nil` if the server has a branch that was not settled here.
    static func descendant(of current: RevisionID, among leaves: [PeerRevision]) -> PeerRevision? {
        let winner = leaves[place(among: leaves)]
        if winner.history.revisions.contains(current) { return winner }
        let settled = leaves.first {
            $0.isDeleted && $0.history.revisions.dropFirst(winner.isDeleted ? 1 : 0).contains(current)
        }
        return settled.flatMap { moved(winner, onto: $0.history, at: current) }
    }

    /// The maximum number of revisions that are searched for a revision that was sent under another id.
    private static let maximumComparedRevisions = 100

    /// Whether a revision is in a history under another id, because it was sent as a child of the server's
    /// revision.
    static func wasSent(_ stored: ReplicatedRevision, in history: RevisionHistory) -> Bool {
        let revisions = Array(history.revisions.prefix(maximumComparedRevisions))
        return zip(revisions, names(of: stored, after: revisions.dropFirst())).contains { $0 == $1 }
    }

    /// The ids under which a revision is sent as a child of each of some revisions.
    static func names(
        of stored: ReplicatedRevision, after parents: some Sequence<RevisionID>
    ) -> [RevisionID] {
        let attachments = stored.attachments.map(\.signature)
        return parents.map { parent in
            RevisionHasher().revision(
                of: stored.body, parent: parent, isDeleted: stored.isDeleted, attachments: attachments)
        }
    }

    /// The winner as a child of the server's revision, or that revision itself if it is this child already.
    private static func moved(
        _ winner: PeerRevision, onto history: RevisionHistory, at current: RevisionID
    ) -> PeerRevision? {
        let path = Array(history.revisions.drop { $0 != current })
        let attachments = winner.attachments.map {
            AttachmentSignature(name: $0.name, contentType: $0.contentType, md5: $0.digest.md5)
        }
        func child(of parent: RevisionID?) -> RevisionID {
            RevisionHasher().revision(
                of: winner.body, parent: parent, isDeleted: winner.isDeleted, attachments: attachments)
        }
        let isThere = path.count > 1 && child(of: path[1]) == current
        var sent = winner
        guard let moved = RevisionHistory(isThere ? path : [child(of: current)] + path) else { return nil }
        sent.history = moved
        return sent
    }
}
