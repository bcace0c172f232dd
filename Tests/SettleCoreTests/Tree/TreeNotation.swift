import SettleCore

extension RevisionID: ExpressibleByStringLiteral {
    /// A revision id spelled out in a test.
    init(stringLiteral text: String) {
        guard let revision = RevisionID(text) else { fatalError("a test spells a revision id wrongly: \(text)") }
        self = revision
    }
}

/// A history spelled out newest first, as in `path("3-c", "2-b", "1-a")`.
func path(_ revisions: RevisionID...) -> RevisionHistory { path(revisions) }

/// A history of revisions given newest first.
func path(_ revisions: [RevisionID]) -> RevisionHistory {
    for (child, parent) in zip(revisions, revisions.dropFirst()) where child.generation != parent.generation + 1 {
        fatalError("a test skips a generation between \(parent) and \(child)")
    }
    do {
        return try RevisionHistory(start: revisions[0].generation, signatures: revisions.map(\.signature))
    } catch {
        fatalError("a test spells a history wrongly: \(error)")
    }
}

/// A tree of branches spelled oldest first, a `!` after a tombstone: `tree("1-a 2-b 3-c", "1-a 2-b 3-x!")`.
func tree(_ branches: String...) -> RevisionTree { tree(branches) }

/// A tree of branches spelled oldest first.
func tree(_ branches: [String]) -> RevisionTree {
    var tree = RevisionTree()
    for branch in branches {
        let isDeleted = branch.hasSuffix("!")
        let revisions = branch.split(separator: " ").map { RevisionID(stringLiteral: $0.filter { $0 != "!" }) }
        tree.insert(path(revisions.reversed()), isDeleted: isDeleted)
    }
    return tree
}

extension RevisionTree {
    /// The leaves in the order of ``leaves``, a `!` after a tombstone.
    var leafNotation: [String] { leaves.map { "\($0.revision)\($0.isDeleted ? "!" : "")" } }

    /// Every revision with its parent, as `2-b<1-a`; roots stand alone.
    var edges: [String] {
        revisions.map { revision in parent(of: revision).map { "\(revision)<\($0)" } ?? "\(revision)" }
    }
}
