internal import RevisionTree
internal import SettleDatabase

/// Update sequences as they travel: text that clients must not look into.
///
/// Printed is `12-…`, the number with something behind it, so that nobody takes it for a number and computes with it. Read
/// is that, the number alone, and either in quotes.
enum WireSequence {
    /// The text of a sequence.
    static func text(_ sequence: UpdateSequence) -> String { "\(sequence.number)-settle" }

    /// The value of a sequence.
    static func json(_ sequence: UpdateSequence) -> JSON { .string(text(sequence)) }

    /// Reads a sequence; `now` is the newest one.
    ///
    /// - Throws: ``HTTPError`` with status 400 for what is none.
    static func parse(_ text: String, in database: Database) throws -> UpdateSequence {
        if text == "now" { return try database.lastSequence() }
        var digits = Substring(text)
        if digits.hasPrefix("\""), digits.hasSuffix("\""), digits.count > 1 { digits = digits.dropFirst().dropLast() }
        digits = digits.prefix { $0 != "-" }
        guard !digits.isEmpty, let number = Int64(digits), number >= 0 else {
            throw HTTPError.badRequest("Malformed sequence supplied in 'since' parameter.")
        }
        return UpdateSequence(number)
    }
}
