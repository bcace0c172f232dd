import Settle
import SettleDatabase
import Testing

/// The replicated content of a database: every document's leaves with their histories, members and attachments.
struct Contents: Equatable, CustomStringConvertible {
    struct Leaf: Equatable {
        let history: [RevisionID]
        let isDeleted: Bool
        let body: JSONValue
        let attachments: [String]
    }

    private(set) var leaves: [DocumentID: [Leaf]] = [:]

    init(_ database: Database) throws {
        try database.snapshot {
            for change in try database.changes(style: .allLeaves) {
                let tree = try #require(try database.tree(of: change.id))
                leaves[change.id] = try database.leaves(of: change.id).map { document in
                    let revision = try #require(document.revision)
                    return Leaf(
                        history: tree.history(of: revision)?.revisions ?? [], isDeleted: document.isDeleted,
                        body: document.json,
                        attachments: document.attachments.map {
                            "\($0.name) \($0.contentType) \($0.digest) \($0.length)"
                        })
                }
            }
        }
    }

    var description: String {
        leaves.keys.sorted().map { "\($0): \(leaves[$0].map { $0.map(\.history) } ?? [])" }.joined(separator: "\n")
    }
}

/// Expects that two databases hold the same.
func expectSame(_ left: Database, _ right: Database, location: SourceLocation = #_sourceLocation) throws {
    let (one, other) = (try Contents(left), try Contents(right))
    #expect(one == other, sourceLocation: location)
}

/// Expects that the sums of a ledger hold.
func expectSums(
    _ counts: ReplicationCounts, of run: String = "", location: SourceLocation = #_sourceLocation
) {
    #expect(
        counts.revisionsChecked == counts.revisionsPresent + counts.revisionsMissing, "\(run)", sourceLocation: location
    )
    let ends =
        counts.revisionsWritten + counts.revisionsKnown + counts.revisionsRefused + counts.revisionsFailed
        + counts.revisionsGone
    #expect(counts.revisionsMissing == ends, "\(run) \(counts)", sourceLocation: location)
}

extension Database {
    /// Saves a document as an edit of the current one.
    @discardableResult
    func put(_ id: DocumentID, _ body: JSONValue) throws -> RevisionID {
        var document = try document(id) ?? Document(id: id)
        document.json = body
        return try #require(try save(document, onConflict: .fail).revision)
    }

    /// Creates two branches on the current revision, by writing one of them as a peer would.
    func branch(_ id: DocumentID, _ here: JSONValue, _ there: JSONValue) throws {
        let other = try Database.inMemory()
        defer { other.close() }
        if let base = try document(id), let revision = base.revision,
            let history = try tree(of: id)?.history(of: revision)
        {
            try other.insertReplicated([ReplicatedRevision(id: id, history: history, body: try base.body())])
        }
        let revision = try other.put(id, there)
        try put(id, here)
        let history = try #require(try other.tree(of: id)?.history(of: revision))
        let body = try #require(try other.document(id)).body()
        try insertReplicated([ReplicatedRevision(id: id, history: history, body: body)])
    }
}
