import SettleCore

/// Text parsed as ids of revisions and documents, and as a history: one id per line, as in `_revisions`.
enum IdentifierTarget {
    static func run(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        try checkRevision(text)
        try checkDocumentID(text)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        try checkOrder(lines.compactMap { RevisionID($0) })
        try checkHistory(start: UInt64(lines.first ?? ""), lines.dropFirst().compactMap { RevisionSignature($0) })
    }

    private static func checkRevision(_ text: String) throws {
        let revision = RevisionID(text)
        let validated = try? RevisionID(validating: text)
        try require(validated == revision, "both ways of reading a revision id agree")
        guard let revision else { return }
        try require(RevisionID(revision.description) == revision, "a revision id that is printed reads to itself")
        try require(!(revision < revision), "a revision does not come before itself")
        try require(
            revision.generation > 0 && revision.generation <= RevisionID.maximumGeneration,
            "a generation is a positive number of 63 bits")
    }

    private static func checkDocumentID(_ text: String) throws {
        guard let id = try? DocumentID(validating: text) else { return }
        try require(
            (try? DocumentID(validating: id.description)) == id, "a document id that is printed reads to itself")
        try require(!(id < id), "a document id does not come before itself")
        try require(!(id.isLocal && id.isDesign), "an id is of one kind")
    }

    private static func checkOrder(_ revisions: [RevisionID]) throws {
        let sorted = revisions.prefix(16).sorted()
        for (first, second) in zip(sorted, sorted.dropFirst()) {
            try require(!(second < first), "sorted revisions are in order")
            try require((first < second) != (first == second), "revisions come one before the other or are equal")
        }
    }

    private static func checkHistory(start: UInt64?, _ signatures: [RevisionSignature]) throws {
        guard let start, let history = try? RevisionHistory(start: start, signatures: signatures) else { return }
        var tree = RevisionTree()
        tree.insert(history, isDeleted: false)
        try require(tree.brokenInvariant == nil, "a history grows a tree that holds its invariants")
        try require(tree.history(of: history.revision) == history, "a history that is inserted is what it was")
        try require((try? RevisionTree(packed: tree.packed())) == tree, "a tree that is packed reads to itself")
    }
}
