import Settle
import SettleDatabase
import SettleTesting
import Testing

extension Database {
    /// Randomly deletes, purges or edits a document, or inserts a replicated revision of it.
    func change(_ id: DocumentID, to body: DocumentBody, _ generator: inout SeededRandom) throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
            if let known = try document(id) { try delete(known, onConflict: .lastWriteWins) }
        case 1: try purge(id)
        case 2:
            let signature = String(UInt64.random(in: 0 ... .max, using: &generator), radix: 16)
            let revision = try #require(RevisionID("1-" + signature))
            try insertReplicated([ReplicatedRevision(id: id, history: RevisionHistory(revision), body: body)])
        default:
            var changed = try document(id) ?? Document(id: id)
            changed.setBody(body)
            try save(changed, onConflict: .lastWriteWins)
        }
    }
}
