import Settle
import SettleDatabase

/// Harm that is done to one document behind the database's back.
enum Damage: String, CaseIterable, Sendable {
    /// An attachment's length is below zero, as older versions could be made to store it.
    case length
    /// The list of attachments is no JSON.
    case attachments
    /// The tree of revisions can't be read.
    case tree

    /// Does it to the row of a document of an open database.
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
