internal import SettleDatabase
internal import SettlePlatform

/// The settings of a database as of an age, so that a write need not read them: it is committed only if the age is still theirs.
final class SettingsCache: Sendable {
    /// All settings at one age.
    struct Values: Sendable {
        let age: Int64
        let values: [String: String]
    }

    private let database: Int64
    private let pool: PostgresPool
    private let known = Guarded<Values?>(nil)

    init(_ database: Int64, _ pool: PostgresPool) { (self.database, self.pool) = (database, pool) }

    /// The settings that were read last, or that are read now.
    func values() throws -> Values {
        if let known = known.withLock({ $0 }) { return known }
        return try read(pool)
    }

    /// The settings at an age, which the caller has from the locked row.
    func values(at age: Int64, _ link: any PostgresLink) throws -> Values {
        if let known = known.withLock({ $0 }), known.age == age { return known }
        return try read(link)
    }

    /// Forgets settings older than an age.
    func expect(_ age: Int64) {
        known.withLock { if let values = $0, values.age < age { $0 = nil } }
    }

    private func read(_ link: any PostgresLink) throws -> Values {
        guard let rows = try link.ask([PostgresCall(.settings, .integer(database))]).first, rows.count > 0 else {
            throw DatabaseError(.closed, "the database was deleted")
        }
        var values: [String: String] = [:]
        for row in 0..<rows.count where !rows.isNull(row, 1) { values[rows.text(row, 1)] = rows.text(row, 2) }
        let read = Values(age: rows.integer(0, 0), values: values)
        known.withLock { known in
            if (known?.age ?? 0) <= read.age { known = read }
        }
        return read
    }
}
