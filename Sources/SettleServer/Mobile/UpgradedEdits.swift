internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// Edits from before a database of trees was opened with version vectors, which replace the server's revision.
///
///     here      1-a ─┬─ 2-46… ─ 3-deleted     the device knows it as 246f1b47dd4@Revision+Tree+Encoding
///     pushed         └─ 2-a5…                 the winner
///
/// LiteCore compares such an id with a version by generation and digest. If its own id is the greater one, it takes 2-46… for an
/// ancestor: it names it in its proposal, and never pulls it. A refusal would leave the edit on the device for ever. The name
/// 2-a5… can't be a child of 2-46…, so it becomes a branch, and the one of 2-46… is closed.
struct UpgradedEdits: Sendable {
    /// A document and the id of the edit.
    struct Edit: Hashable, Sendable {
        let id: DocumentID
        let name: String
    }

    private struct Place: Hashable {
        let collection: Int
        let edit: Edit
    }

    /// The maximum number of edits that may be on their way.
    private static let most = 10_000

    /// The versions of the server that the device named in its proposals.
    private var versions: [Place: DocumentVersion] = [:]

    /// Whether a version is the state of a tree, or its winner.
    static func isState(_ version: DocumentVersion, of tree: RevisionTree) -> Bool {
        tree.winner.map { DocumentVersion($0.revision) == version } ?? false
            || VersionVector(tree)?.current == version
    }

    /// Accepts an edit.
    ///
    /// - Returns: Whether there is room for it.
    mutating func add(_ edit: Edit, in collection: Int, beside version: DocumentVersion) -> Bool {
        guard versions.count < Self.most else { return false }
        versions[Place(collection: collection, edit: edit)] = version
        return true
    }

    /// Forgets an edit that has arrived. If it is refused, the device proposes it again.
    mutating func remove(_ edit: Edit, in collection: Int) {
        versions[Place(collection: collection, edit: edit)] = nil
    }

    /// The server's revision that an edit replaces, if the edit was accepted and that revision is still the one that the device
    /// named.
    ///
    /// - Throws: ``DatabaseError``.
    func replaced(
        by edit: Edit, in collection: Int, of database: Database
    ) throws -> (history: RevisionHistory, isDeleted: Bool)? {
        guard let version = versions[Place(collection: collection, edit: edit)],
            let tree = try database.tree(of: edit.id), Self.isState(version, of: tree), let winner = tree.winner
        else { return nil }
        return tree.history(of: winner.revision).map { ($0, winner.isDeleted) }
    }
}
