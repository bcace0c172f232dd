internal import SettleCore
internal import SettleDatabase

/// Which of a document's leaves goes to a server that keeps one branch, and under which id.
enum MobileWinner {
    /// The place of the winner among leaves of a document (SEMANTICS 63).
    static func place(among leaves: [PeerRevision]) -> Int {
        guard leaves.count > 1 else { return 0 }
        var tree = RevisionTree()
        for leaf in leaves { _ = tree.insert(leaf.history, isDeleted: leaf.isDeleted) }
        return leaves.firstIndex { $0.revision == tree.winner?.revision } ?? 0
    }

    /// The winner as a descendant of the server's revision: itself, or what a conflict with that revision was settled to. An edit
    /// that was made apart from a deletion at the server wins against it (SEMANTICS 63), and needs no settlement.
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

    /// The maximum number of revisions among which one is looked for that was sent under another id.
    private static let mostCompared = 100

    /// Whether a revision is in a history under another id, because it was sent as a child of what the server had.
    static func wasSent(_ stored: Database.StoredRevision, in history: RevisionHistory) -> Bool {
        let attachments = stored.content.attachments.map {
            AttachmentSignature(name: $0.name, contentType: $0.contentType, md5: $0.digest.md5)
        }
        let revisions = history.revisions.prefix(mostCompared)
        return zip(revisions, revisions.dropFirst()).contains { revision, parent in
            revision
                == RevisionHasher().revision(
                    of: stored.content.body, parent: parent, isDeleted: stored.isDeleted, attachments: attachments)
        }
    }

    /// The winner as a child of the server's revision; as that revision itself if it is that child already.
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
