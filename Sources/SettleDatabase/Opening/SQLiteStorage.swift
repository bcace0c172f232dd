/// Makes the storage engines that are built in, for those who put something between a database and its engine, or test
/// engines; everyone else opens a ``Database``.
public enum SQLiteStorage {
    /// An engine in memory, which ends with the object.
    public static func inMemory() throws -> any StorageEngine {
        try SQLiteEngine(path: nil, durability: .normal, cacheBytes: DatabaseOptions().cacheBytes)
    }

    /// An engine in a SQLite file, which is created if it is not there. Nothing keeps others from opening the file
    /// as well, as ``Database/open(_:options:)`` does.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt`, `newerFormat` or `inputOutput`.
    public static func file(_ path: String, durability: Durability = .normal) throws -> any StorageEngine {
        try SQLiteEngine.createIfMissing(path)
        return try SQLiteEngine(path: path, durability: durability, cacheBytes: DatabaseOptions().cacheBytes)
    }
}
