import Settle
import SettleDatabase

/// Damage to one document, made without the database.
enum Damage: String, CaseIterable, Sendable {
    /// A negative attachment length, which older versions could store.
    case length
    /// The list of attachments is not JSON.
    case attachments
    /// The revision tree can't be read.
    case tree

    /// Damages the row of a document in an open database.
    func strike(_ id: String, in database: Database) throws {
        let change =
            switch self {
            case .length: "attachments = CAST(replace(CAST(attachments AS TEXT), ',3,', ',-3,') AS BLOB)"
            case .attachments: "attachments = 'no'"
            case .tree: "tree = x'FF'"
            }
        let connection = try SQLiteConnection(path: (database.path ?? "") + "/database.sqlite")
        try connection.execute("UPDATE documents SET \(change) WHERE id = CAST('\(id)' AS BLOB)")
    }
}
