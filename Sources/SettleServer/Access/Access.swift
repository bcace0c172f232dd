/// What a route asks of who wants to use it; ``AccessCheck`` is where it is looked at.
enum Access: Sendable {
    /// Anyone, even without logging in.
    case anyone
    /// Whoever may list the databases: the server's administrators, unless the options let everybody.
    case lister
    /// Whoever may read and write documents of the database in the path.
    case member
    /// Whoever may have the database in the path maintained: its administrators.
    case databaseAdmin
    /// Whoever may change the settings of the database in the path: its administrators, in CouchDB's other words.
    case settings
    /// The server's administrators, and whoever has the role `_metrics`.
    case metrics
    /// The server's administrators.
    case serverAdmin
}
