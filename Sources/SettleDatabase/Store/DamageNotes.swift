package import SettleCore
internal import SettlePlatform

/// The damaged documents that were reported to the app, so that each is reported once while the database is open.
final class DamageNotes: Sendable {
    private let named = Guarded<Set<DocumentID>>([])
    /// How many are remembered; in a file with more, some are reported again.
    private static let limit = 1000

    /// Records a document; returns whether it is new.
    func add(_ id: DocumentID) -> Bool {
        named.withLock { named in
            if named.count >= Self.limit { named.removeAll() }
            return named.insert(id).inserted
        }
    }
}

extension Database {
    /// Reports the damaged documents of a page to the app, because bulk reads skip them.
    ///
    /// - Returns: The same documents.
    func noting(_ page: [DocumentRecord]) -> [DocumentRecord] {
        for record in page { if let damage = record.damage { note(damage, of: record.id) } }
        return page
    }

    /// Reports a damaged document to the app, the first time.
    package func note(_ damage: DatabaseError, of id: DocumentID) {
        if damages.add(id) { warn(damage.message) }
    }
}
