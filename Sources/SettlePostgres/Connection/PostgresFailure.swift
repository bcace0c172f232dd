internal import CPostgres
internal import SettleDatabase

/// The failure of a query or a write, before it is converted to an error of the database.
enum PostgresFailure: Error {
    /// The connection broke, or an answer did not come in time. The sent statements may have been executed.
    case broken(String)
    /// The server refused with an SQLSTATE and a message. The detail is left out, because it may contain values.
    case refused(state: String, message: String)

    /// Whether a retry may succeed, because the server did nothing: after a serialization failure or a deadlock.
    var isTransient: Bool {
        if case .refused(let state, _) = self { ["40001", "40P01"].contains(state) } else { false }
    }

    /// Whether the connection is unusable, or its server must not be queried.
    var endsConnection: Bool {
        switch self {
        case .broken: true
        case .refused(let state, _):
            state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006" || state == "25P03"
        }
    }

    /// Creates a failure from a result.
    init(_ result: OpaquePointer?) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        self = .refused(
            state: field(Int32(UInt8(ascii: "C"))) ?? "XX000",
            message: field(Int32(UInt8(ascii: "M"))) ?? "an error without a message")
    }

    /// Advice about a pooler that is not in session mode.
    static let poolerAdvice = """
        the connection goes through a pooler that lends a session for one transaction; give each node its sessions: \
        `pool_mode = session` in PgBouncer.
        """

    /// The failure as an error of the database.
    var error: DatabaseError {
        switch self {
        case .broken(let reason):
            return DatabaseError(.unavailable, "the connection to PostgreSQL broke: \(reason); try again")
        case .refused(let state, let message):
            let said = "PostgreSQL says \(state): \(message)"
            switch state {
            case "53100":
                return DatabaseError(.diskFull, "the disk of PostgreSQL is full; nothing was written. \(said)")
            case "42501":
                return DatabaseError(
                    .storage, "the role lacks a right: `settle postgres migrate --app-role` grants them. \(said)")
            case "42P01", "3F000", "42703":
                return DatabaseError(
                    .storage, "the schema is not there, or of another version: run `settle postgres migrate`. \(said)")
            case "26000", "42P05":
                return DatabaseError(.invalid, "\(Self.poolerAdvice) \(said)")
            case "22021": return DatabaseError(.invalid, "PostgreSQL can't store the text. \(said)")
            case "54000": return DatabaseError(.invalid, "a value is too long for PostgreSQL. \(said)")
            default:
                let isAway =
                    ["53", "57", "08", "25", "40"].contains(state.prefix(2)) || state == "58030" || state == "XX000"
                return DatabaseError(
                    isAway ? .unavailable : .storage, "\(isAway ? "try again; " : "")\(said)")
            }
        }
    }
}
