internal import SettlePlatform

extension Database {
    /// Opens an existing database. If this process already has it open, it returns the same object. If the process is
    /// closing it, the call waits for that.
    ///
    /// - Parameters:
    ///   - path: The database's folder, by custom `NAME.settle`.
    ///   - options: How to open it; ignored if it is open already.
    /// - Returns: The database.
    /// - Throws: ``DatabaseError`` with code `notFound`; `notADatabase` for a file, for a folder of other files and for another
    ///   program's database; `newerFormat` or `corrupt`, without changing the file;
    ///   `inUse` if another process has it open, or this one has not closed it after a minute; `inputOutput`.
    public static func open(_ path: String, options: DatabaseOptions = DatabaseOptions()) throws -> Database {
        let files = DatabaseFiles(folder: path)
        return try options.log.measure(.open, ["database": files.name]) {
            try DatabaseRegistry.shared.open(files) { try opened(files, options) }
        }
    }

    private static func opened(_ files: DatabaseFiles, _ options: DatabaseOptions) throws -> Database {
        guard files.exist else {
            try files.checkPlace()
            throw DatabaseError(.notFound, "there is no database at \(files.folder)")
        }
        // Another process that shares the database may be rewriting the file; it is checked once this process has
        // the turn.
        if options.sharing == nil { try FileHeader.check(files) }
        let lock = try ProcessTurn.acquire(files, until: options.sharing?.deadline ?? .now)
        // It may have been deleted before the lock was acquired.
        guard files.exist else { throw DatabaseError(.notFound, "there is no database at \(files.folder)") }
        if options.sharing != nil { try FileHeader.check(files) }
        return try make(files, lock, options)
    }

    /// Creates a database in a new folder.
    ///
    /// If the process is killed meanwhile, the database is either complete or does not exist.
    ///
    /// - Throws: ``DatabaseError`` with code `exists` if there is one, `notADatabase` for a file or a folder of other files, or
    ///   `inputOutput`.
    public static func create(_ path: String, options: DatabaseOptions = DatabaseOptions()) throws -> Database {
        let files = DatabaseFiles(folder: path)
        return try DatabaseRegistry.shared.open(files, isNew: true) {
            guard !files.exist else { throw alreadyExists(files) }
            try files.checkPlace()
            try files.create()
            let lock = try ProcessTurn.acquire(files, until: options.sharing?.deadline ?? .now)
            guard !files.exist else { throw alreadyExists(files) }
            try SQLiteEngine.create(files)
            return try make(files, lock, options)
        }
    }

    /// Deletes a database with its contents; one that this process has open is closed first.
    ///
    /// - Parameters:
    ///   - path: The database's folder.
    ///   - name: The database in messages; its folder by default.
    /// - Throws: ``DatabaseError`` with code `notFound`, `inUse` if another process has it open, or `inputOutput`.
    package static func remove(_ path: String, calling name: String? = nil) throws {
        let files = DatabaseFiles(folder: path)
        try DatabaseRegistry.shared.remove(
            files,
            check: {
                guard files.exist else {
                    throw DatabaseError(.notFound, "there is no database \(name ?? "at \(files.folder)")")
                }
            }, files.remove)
    }

    /// Opens a database, or creates it if it does not exist.
    ///
    /// - Throws: Errors of ``open(_:options:)``.
    public static func openOrCreate(_ path: String, options: DatabaseOptions = DatabaseOptions()) throws -> Database {
        do { return try open(path, options: options) } catch let error as DatabaseError where error.code == .notFound {
            do { return try create(path, options: options) } catch let error as DatabaseError
                where error.code == .exists
            {
                return try open(path, options: options)
            }
        }
    }

    /// Creates an empty database in memory, which exists as long as the object.
    public static func inMemory(options: DatabaseOptions = DatabaseOptions()) throws -> Database {
        let engine = try SQLiteEngine(path: nil, durability: .normal, cacheBytes: options.cacheBytes)
        return try opened(Database(engine: engine, files: nil, turn: nil, options: options))
    }

    /// Creates a database on another storage engine.
    public static func make(
        on engine: any StorageEngine, options: DatabaseOptions = DatabaseOptions()
    ) throws -> Database {
        try opened(Database(engine: engine, files: nil, turn: nil, options: options))
    }

    private static func opened(_ database: Database) throws -> Database {
        try database.options.whenOpened(database)
        database.log(.info, .database, "the database is open", database.logMetadata)
        return database
    }

    private static func make(
        _ files: DatabaseFiles, _ lock: DatabaseLock, _ options: DatabaseOptions
    ) throws -> Database {
        try files.create()
        if options.sharing == nil, files.folder.contains("/Containers/Shared/AppGroup/") {
            options.log(
                .warning, .database,
                """
                \(files.folder) is in the folder of an App Group, where iOS ends an app that is suspended with a file locked; \
                open the database with DatabaseOptions.sharing, or call suspend() before
                """)
        }
        if let warning = SQLiteFileSystem.standard.warning { options.log(.warning, .database, warning) }
        // Processes that share a database have its log open.
        let log = try options.sharing == nil ? files.checkLog() : nil
        if let problem = log?.problem {
            options.log(.warning, .database, "\(files.name): \(problem); verify the database")
        }
        let turn = ProcessTurn(files, lock)
        let engine = try SuspendableEngine(turn, sharing: options.sharing) {
            // Another process may have deleted it meanwhile.
            guard files.exist else { throw DatabaseError(.closed, "the database was deleted") }
            return try SQLiteEngine(
                path: files.database, durability: options.durability, cacheBytes: options.cacheBytes,
                readers: options.readers, leavesShortLog: options.leavesShortLogs || options.sharing != nil,
                emptiesLog: log?.hasRest == true)
        }
        let database = try Database(engine: engine, files: files, turn: turn, options: options)
        engine.onChange(database.suspensionHooks)
        return try opened(database)
    }

    static func alreadyExists(_ files: DatabaseFiles) -> DatabaseError {
        DatabaseError(.exists, "there is a database at \(files.folder) already")
    }
}

// MARK: - Instance

extension Database {
    /// The instance name of this database, created on first use. A database that was deleted and created again
    /// under the same name gets a new instance name, so that positions in the old one's changes are recognized as
    /// invalid.
    package func instanceName() throws -> String {
        if let name = try setting(Self.instanceSetting) { return name }
        return try engine.commit { [file = file] writer in
            if let name = try writer.setting(Self.instanceSetting) { return name }
            return try Self.makeInstance(file, writer)
        }
    }

    /// Gives the database a new instance name after it was set back to an older state: readers of its changes
    /// recognize their positions as invalid and start over.
    package func renewInstance() throws {
        try engine.commit { [file = file] writer in _ = try Self.makeInstance(file, writer) }
    }

    /// Gives the database a new instance name if its file is not the one that got the name. The file is then a
    /// copy, which may be older.
    ///
    /// It does not notice a copy whose bytes were written into the same file.
    ///
    /// - Returns: Whether the name was replaced.
    package func renewInstanceIfReplaced() throws -> Bool {
        guard let file, try setting(Self.instanceSetting) != nil else { return false }
        let known = try setting(Self.fileSetting)
        guard known != file else { return false }
        // A database of an earlier version does not have this setting.
        guard known != nil else {
            try engine.commit { try $0.setSetting(Self.fileSetting, to: file) }
            return false
        }
        try renewInstance()
        return true
    }

    private static func makeInstance(_ file: String?, _ writer: any StorageWriter) throws -> String {
        let name = SecureRandom.hexadecimal(bytes: 8)
        try writer.setSetting(instanceSetting, to: name)
        try writer.setSetting(fileSetting, to: file)
        return name
    }

    /// The number that identifies the database's file in its file system. A file system may give the number of a
    /// deleted file to the next one; a copy in its place is then not noticed.
    private var file: String? { files.flatMap { FileStatus(path: $0.database) }.map { String($0.number) } }

    private static let instanceSetting = "instance"
    /// The setting that stores the number of the file that got the instance name. A copy of the database has
    /// another number.
    static let fileSetting = "instance_file"
}
