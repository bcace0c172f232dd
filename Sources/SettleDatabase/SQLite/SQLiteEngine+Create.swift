extension SQLiteEngine {
    /// Makes the file of an empty database, so that a crash leaves either all of it or nothing under its name.
    ///
    /// It is made under another name, without a log or journal beside it, forced to the disk at once, and renamed. So the file's
    /// own first page says from the beginning what it is, and a process that is killed before the first checkpoint leaves a file that
    /// ``FileHeader`` knows.
    static func create(_ files: DatabaseFiles) throws {
        for leftOver in files.unfinished { try removeIfThere(leftOver) }
        try create(files.unfinishedDatabase)
        try renameDurably(files.unfinishedDatabase, to: files.database)
        try synchronizeFolder(above: files.folder)
    }

    /// Makes the file of an empty database unless it exists, for an engine without a folder around it.
    static func createIfMissing(_ path: String) throws {
        if (try? FileHandleReader(path: path)) == nil { try create(path) }
    }

    private static func create(_ path: String) throws {
        try fill(path)
        try FileHandleWriter(path: path, goesOn: true).synchronize()
    }

    /// Makes the file without waiting for the disk: after a crash it is made anew.
    private static func fill(_ path: String) throws {
        let connection = try SQLiteConnection(path: path)
        try connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
        try SQLiteSchema.create(on: connection)
        try connection.execute("PRAGMA journal_mode = WAL")
    }
}
