internal import CSQLite

/// Keeps the file of the write-ahead log longer than what is in it.
///
/// To bring a file to the disk that has grown takes its new size as well, which most file systems write to a journal of
/// their own: several times as long as for bytes in the place of others. So where each commit is brought to the disk,
/// zeros are written ahead of the log, a large piece at a time.
///
///     header │ frame │ frame │ frame │ 0 0 0 0 0 0 0 0 0 0
///                              newest ↑    the next commits ↑
///
/// They are no frames: one has the numbers in it that the header has, or it ends the log, for a reader as for who opens the
/// file after a crash.
enum LogRoom {
    /// After how many pages the log is brought into the database.
    static let pagesToKeep: Int32 = 4000
    /// A log of fewer pages is left as long as it is, so that a few commits don't take a large file.
    private static let leastPages: Int64 = 32
    /// How many bytes are written ahead at the most.
    private static let most: Int64 = 1 << 20
    /// SQLite's files take less than 128 KiB at a time.
    private static let zeros = [UInt8](repeating: 0, count: 64 << 10)

    /// Has each commit of a connection see to it, and bring a long log into the database.
    static func keep(on connection: SQLiteConnection) throws {
        let size = Int(try connection.integer("PRAGMA page_size") ?? 0)
        // The page size is all that the hook has to know, so it is passed in the place of an object.
        sqlite3_wal_hook(
            connection.handle,
            { size, database, name, pages in
                LogRoom.extend(database, name, frames: Int64(pages), pageSize: Int64(Int(bitPattern: size)))
                if pages >= LogRoom.pagesToKeep {
                    sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                }
                return SQLITE_OK
            }, UnsafeMutableRawPointer(bitPattern: size))
    }

    /// Writes zeros behind the log if it is about to reach its file's end. Where that fails the next commits fare no worse.
    private static func extend(
        _ database: OpaquePointer?, _ name: UnsafePointer<CChar>?, frames: Int64, pageSize: Int64
    ) {
        guard frames >= leastPages, frames < pagesToKeep else { return }
        var found: UnsafeMutablePointer<sqlite3_file>?
        let code = withUnsafeMutablePointer(to: &found) {
            sqlite3_file_control(database, name, SQLITE_FCNTL_JOURNAL_POINTER, $0)
        }
        guard code == SQLITE_OK, let file = found, let methods = file.pointee.pMethods?.pointee else { return }
        let end = 32 + frames * (24 + pageSize)
        var size: sqlite3_int64 = 0
        guard methods.xFileSize?(file, &size) == SQLITE_OK, size >= end, size - end < 4 * pageSize else { return }
        for place in stride(from: size, to: size + min(end, most), by: zeros.count) {
            guard methods.xWrite?(file, zeros, Int32(zeros.count), place) == SQLITE_OK else { return }
        }
    }
}
