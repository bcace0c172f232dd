/// What a route asks of who wants to use it; ``AccessCheck`` is where it is looked at.
enum Access: Sendable {
    /// Anyone, even without logging in.
    case anyone
    /// Whoever may read and write documents of the database in the path.
    case member
    /// Whoever may change the settings of the database in the path.
    case databaseAdmin
    /// The server's administrators.
    case serverAdmin
}
