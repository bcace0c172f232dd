package import SettleCore
internal import SettlePlatform

/// Which damaged documents were named to the app, so that each is named once while the database is open, however often
/// something goes past it.
final class DamageNotes: Sendable {
    private let named = Guarded<Set<DocumentID>>([])
    /// How many are remembered; in a file that has more, some are named again.
    private static let limit = 1000

    /// Takes note of a document; returns whether that was news.
    func add(_ id: DocumentID) -> Bool {
        named.withLock { named in
            if named.count >= Self.limit { named.removeAll() }
            return named.insert(id).inserted
        }
    }
}

extension Database {
    /// Names the damaged ones of some documents to the app: what reads many goes past them.
    ///
    /// - Returns: The same documents.
    func noting(_ page: [DocumentRecord]) -> [DocumentRecord] {
        for record in page { if let damage = record.damage { note(damage, of: record.id) } }
        return page
    }

    /// Names a damaged document to the app, the first time.
    package func note(_ damage: DatabaseError, of id: DocumentID) {
        if damages.add(id) { options.warn(damage.message) }
    }
}
