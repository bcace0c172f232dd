internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Update sequences of one database in the API: text that is opaque to clients.
///
/// The form is `12-…`: the number, and an id of the database. A position in a deleted database of the same name is
/// recognized by that id, and its client reads from the beginning and misses nothing.
struct WireSequence: Sendable {
    private let instance: String

    /// - Throws: ``DatabaseError`` when the database can't be read.
    init(_ source: any DocumentSource) throws {
        if let known = source.known(Instance.self) {
            instance = known.name
        } else {
            let database = try source.database
            let name = try database.instanceName()
            instance = database.companion(Instance.self) { Instance(name) }.name
        }
    }

    /// The id of a database, read once, because thousands of feeds start at the same time.
    private final class Instance: Sendable {
        let name: String

        init(_ name: String) { self.name = name }
    }

    func text(_ sequence: UpdateSequence) -> String { "\(sequence.number)-\(instance)" }

    func json(_ sequence: UpdateSequence) -> JSONValue { .string(text(sequence)) }

    /// Parses a sequence in its printed form, or a number alone, with or without quotes. `now` is the newest
    /// sequence.
    ///
    /// A sequence past the newest one comes from a lost state: the database was restored from a backup, or lost its
    /// last commits in a power failure. The numbers after the restored state now mean other changes, so reading
    /// starts from the beginning.
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
        // The newest commit is usually known without reading.
        if let commit = database.newestCommit, sequence <= commit.sequence { return sequence }
        return try sequence <= database.lastSequence() ? sequence : 0
    }
}
