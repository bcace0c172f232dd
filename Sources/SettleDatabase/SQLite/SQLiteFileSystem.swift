internal import CSQLite

/// The way in which SQLite opens and locks files: one of its `sqlite3_vfs`.
///
/// A database belongs to one process at a time, and so SQLite need not ask the system for a lock at each read and write:
/// with `unix-excl` it takes one lock for the whole file, and keeps what its connections share in memory.
struct SQLiteFileSystem: Sendable {
    /// Its name in SQLite; `nil` for SQLite's default, which is `unix`.
    let name: String?
    /// What an app should know about it; `nil` if there is nothing.
    let warning: String?

    /// The one for all files of this process.
    static let standard = find("unix-excl")

    /// The file system of a name, or SQLite's default if this SQLite has none of that name.
    static func find(_ name: String) -> SQLiteFileSystem {
        guard sqlite3_vfs_find(name) == nil else { return SQLiteFileSystem(name: name, warning: nil) }
        let warning = "this SQLite has no \(name): each read and write takes a lock of its own, which is slower"
        return SQLiteFileSystem(name: nil, warning: warning)
    }
}
