import SettleTesting
import Testing

@testable import SettleDatabase

struct SQLiteFileSystemTests {
    @Test func `a file has one lock for the whole process where SQLite can`() {
        #expect(SQLiteFileSystem.standard.name == "unix-excl" && SQLiteFileSystem.standard.warning == nil)
    }

    @Test func `without that, SQLite's own locks are used, and a warning says so`() throws {
        let system = SQLiteFileSystem.find("unix-nowhere")
        #expect(system.name == nil && system.warning?.contains("unix-nowhere") == true)
        let folder = try TemporaryFolder()
        let writer = try SQLiteConnection(path: folder("a.sqlite"), fileSystem: system)
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(v); INSERT INTO t VALUES(7)")
        let reader = try SQLiteConnection(path: folder("a.sqlite"), readOnly: true, fileSystem: system)
        #expect(try reader.integer("SELECT v FROM t") == 7)
        try writer.execute("UPDATE t SET v = 8")
        #expect(try reader.integer("SELECT v FROM t") == 8)
    }

    @Test(arguments: [(.full, 1), (.normal, 0)] as [(Durability, Int64)])
    func `commits are forced to the medium for full durability, checkpoints always`(
        durability: Durability, value: Int64
    ) throws {
        let folder = try TemporaryFolder()
        let connection = try SQLiteConnection(path: folder("a.sqlite"))
        try SQLiteSchema.configure(connection, durability: durability, cacheBytes: 1 << 20)
        #expect(try connection.integer("PRAGMA fullfsync") == value)
        #expect(try connection.integer("PRAGMA checkpoint_fullfsync") == 1)
    }
}
