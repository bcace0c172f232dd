import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettlePlatform
import SettleTesting

/// A device with a database that stamps changes, and a wall clock of its own.
final class Device {
    private let temporary: TemporaryDatabase
    private let wall = Guarded<Int64>(Device.noon)

    static let noon: Int64 = 1_423_137_600_000
    static let day: Int64 = 86_400_000

    init(_ kind: DatabaseKind = .memory, hasClocks: Bool? = true) throws {
        var options = DatabaseOptions.quiet
        options.attributeClocks = hasClocks
        options.now = { [wall] in Date(milliseconds: wall.withLock(\.self)) }
        temporary = try TemporaryDatabase(kind, options: options)
    }

    var database: Database { temporary.database }

    /// The wall clock's time, in milliseconds since 1970.
    var time: Int64 {
        get { wall.withLock(\.self) }
        set { wall.withLock { $0 = newValue } }
    }

    func reopen() throws { try temporary.reopen() }

    /// Sets a member of a document at a time, creating the document if needed.
    func set(_ id: DocumentID, _ name: String, _ value: JSONValue?, at time: Int64? = nil) throws {
        if let time { self.time = time }
        var document = try database.document(id) ?? Document(id: id)
        document[name] = value
        try database.save(document, onConflict: .fail)
    }

    /// A document with its clocks.
    func clocked(_ id: DocumentID) throws -> ClockedDocument? {
        try database.document(id).map { ClockedDocument($0.json.object ?? JSONObject()) }
    }

    /// The revisions of a document's leaves, winner first.
    func leaves(_ id: DocumentID) throws -> [RevisionID] { try database.leaves(of: id).compactMap(\.revision) }

    /// The time of a member's change.
    func moment(_ id: DocumentID, _ name: String) throws -> AttributeClock? { try clocked(id)?[name] }

    /// Replicates everything from another device, and settles.
    func pull(from other: Device, by policy: ConflictPolicy = .latestAttributeWins) throws {
        try database.pull(from: other.database)
        try database.settleAll(using: policy)
    }

    /// Stores an edit by software without clocks that keeps unknown members unchanged.
    func editForeign(_ id: DocumentID, _ change: (inout JSONObject) -> Void) throws {
        guard let document = try database.document(id), let parent = document.revision,
            let tree = try database.tree(of: id), let history = tree.history(of: parent),
            var members = document.json.object
        else { return }
        change(&members)
        let body = try DocumentBody(.object(members))
        let revision = RevisionHasher().revision(of: body, parent: parent)
        let path = try RevisionHistory(
            start: revision.generation, signatures: [revision.signature] + history.signatures)
        try database.insertReplicated([ReplicatedRevision(id: id, history: path, body: body)])
    }
}
