internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Update sequences of one database as they travel: text that clients must not look into.
///
/// Printed is `12-…`: the number, and behind it the name of this very database. A position in one that was deleted and created
/// anew is so known to be none in this one, and whoever comes with it reads from the beginning and misses nothing.
struct WireSequence: Sendable {
    private let instance: String

    /// - Throws: ``DatabaseError`` when the database can't be read.
    init(_ database: Database) throws {
        instance = try database.companion(Instance.self) { Instance() }.name(of: database)
    }

    /// The name of a database, read once: thousands of feeds begin at the same time.
    private final class Instance: Sendable {
        private let known = Guarded<String?>(nil)

        func name(of database: Database) throws -> String {
            if let name = known.withLock(\.self) { return name }
            let name = try database.instanceName()
            known.withLock { $0 = name }
            return name
        }
    }

    /// The text of a sequence.
    func text(_ sequence: UpdateSequence) -> String { "\(sequence.number)-\(instance)" }

    /// The value of a sequence.
    func json(_ sequence: UpdateSequence) -> JSON { .string(text(sequence)) }

    /// Reads a sequence: as it was printed, or the number alone; in quotes or not. `now` is the newest one.
    ///
    /// One that the database has not come to is of a state that was lost: the database was restored from a backup, or lost its
    /// last commits with the power. What has the same numbers now is something else, so reading begins anew.
    ///
    /// - Throws: ``HTTPError`` with status 400 for invalid input.
    func parse(_ text: String, in database: Database) throws -> UpdateSequence {
        if text == "now" { return try database.lastSequence() }
        var rest = Substring(text)
        if rest.hasPrefix("\""), rest.hasSuffix("\""), rest.count > 1 { rest = rest.dropFirst().dropLast() }
        let digits = rest.prefix { $0 != "-" }
        guard !digits.isEmpty, let number = Int64(digits), number >= 0 else {
            throw HTTPError.badRequest("Malformed sequence supplied in 'since' parameter.")
        }
        let name = rest[digits.endIndex...].dropFirst()
        guard name.isEmpty || name == instance else { return 0 }
        let sequence = UpdateSequence(number)
        // As a rule what is known without reading tells enough.
        if let commit = database.newestCommit, sequence <= commit.sequence { return sequence }
        return try sequence <= database.lastSequence() ? sequence : 0
    }
}
