import Settle
import SettleDatabase
import SettleTesting
import Testing

/// After every step, replaying the journal's operations on the last synchronized state gives the current documents.
struct JournalLawTests {
    /// A database, and a peer's state of it.
    private struct World {
        let database: Database
        let journal: Journal
        var random: SeededRandom
        var synchronized: [DocumentID: DocumentBody] = [:]
        let ids: [DocumentID] = ["a", "b", "c"]
        var tick = 0

        mutating func step() throws {
            let id = ids[random.below(ids.count)]
            switch random.below(13) {
            case 0...4: try save(id)
            case 5: if try database.document(id) != nil { try database.delete(id) }
            case 6...7: try journal.undo(1 + random.below(3))
            case 8: try journal.undo(id)
            case 9: if random.oneIn(3) { try journal.undoAll() }
            case 10: try acknowledge(id)
            case 11: try database.compact()
            default: try pull(id)
            }
        }

        private mutating func save(_ id: DocumentID) throws {
            var document = try database.document(id) ?? Document(id: id)
            tick += 1
            document[["x", "y", "z"][random.below(3)]] = random.oneIn(5) ? nil : .number(JSONNumber(tick))
            try database.save(document, onConflict: .fail)
        }

        /// A peer acknowledges any revision it may have been sent, not only the newest.
        private mutating func acknowledge(_ id: DocumentID) throws {
            guard let tree = try database.tree(of: id), let winner = tree.winner?.revision,
                let history = tree.history(of: winner)?.revisions
            else { return }
            let fresh = history.prefix { tree[$0]?.isShared == false }
            guard let sent = random.pick(Array(fresh)), let content = try database.document(id, revision: sent) else {
                return
            }
            synchronized[id] = content.isDeleted ? nil : try content.body()
            try database.markShared([(id, sent)])
        }

        /// A peer's edit of a document that has no local operations.
        private mutating func pull(_ id: DocumentID) throws {
            guard try journal.history(of: id).isEmpty, let tree = try database.tree(of: id), let winner = tree.winner,
                let history = tree.history(of: winner.revision), winner.isShared
            else { return }
            tick += 1
            let signature = try RevisionID(validating: "1-" + String(tick + 0xA000, radix: 16)).signature
            let body: DocumentBody = ["x": .number(JSONNumber(-tick))]
            try database.insertReplicated([
                ReplicatedRevision(
                    id: id,
                    history: try RevisionHistory(
                        start: winner.revision.generation + 1, signatures: [signature] + history.signatures),
                    body: body)
            ])
            synchronized[id] = body
        }

        /// The documents according to the journal.
        func replayed() throws -> [DocumentID: DocumentBody] {
            var bodies = synchronized
            for entry in try journal.history() {
                #expect(entry.old?.body == bodies[entry.documentID], "\(entry.line)")
                bodies[entry.documentID] = entry.new?.body
            }
            return bodies
        }

        /// The documents according to the coalesced changes.
        func applied() throws -> [DocumentID: JSONValue] {
            var documents = synchronized.mapValues(\.json)
            for change in try journal.pending {
                if change.operation == .delete {
                    documents[change.documentID] = nil
                    continue
                }
                var document = change.operation == .create ? [:] : documents[change.documentID] ?? [:]
                for attribute in change.attributes { document[attribute.name] = attribute.value }
                documents[change.documentID] = document
            }
            return documents
        }

        func documents() throws -> [DocumentID: DocumentBody] {
            var bodies: [DocumentID: DocumentBody] = [:]
            for id in ids { bodies[id] = try database.document(id)?.body() }
            return bodies
        }
    }

    // SEMANTICS 194
    @Test(arguments: 0..<60)
    func `replaying the journal on the synchronized documents gives the current ones`(seed: Int) throws {
        let temporary = try TemporaryDatabase(seed % 8 == 0 ? .file : .memory, options: ManualTime().options)
        var world = World(
            database: temporary.database, journal: try #require(temporary.database.journal),
            random: SeededRandom(seed: UInt64(seed)))
        // With a low limit, revisions are stemmed that the journal still needs.
        if let limit = [nil, 5, 3][seed % 3] { try world.database.setRevisionLimit(limit) }
        for step in 0..<150 {
            try world.step()
            let documents = try world.documents()
            #expect(try world.replayed() == documents, "seed \(seed), step \(step)")
            let sorted = documents.mapValues { Members($0.json) }
            #expect(try world.applied().mapValues(Members.init) == sorted, "seed \(seed), step \(step)")
        }
        #expect(try temporary.database.problems() == [])
        let pending = try temporary.database.pendingLines
        try temporary.reopen()
        #expect(try temporary.database.pendingLines == pending)
    }

    /// The members of an object in any order.
    private struct Members: Equatable {
        let values: [String: JSONValue]
        init(_ json: JSONValue) {
            values = Dictionary(uniqueKeysWithValues: (json.object ?? JSONObject()).map { ($0.name, $0.value) })
        }
    }
}
