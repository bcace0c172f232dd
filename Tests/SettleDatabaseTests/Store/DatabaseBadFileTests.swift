import CSQLite
import Foundation
import Settle
import SettleTesting
import Testing

/// Files that are not intact databases: the right error, and not a byte is changed.
@Suite struct DatabaseBadFileTests {
    /// Opens a folder with one file in it; returns the error's code after checking that nothing was changed.
    private func codeOfOpening(_ bytes: [UInt8]) throws -> DatabaseErrorCode? {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("a.settle"), withIntermediateDirectories: true)
        let file = URL(fileURLWithPath: folder("a.settle/database.sqlite"))
        try Data(bytes).write(to: file)
        let found = code { try Database.open(folder("a.settle")) }
        let again = code { try Database.openOrCreate(folder("a.settle")) }
        #expect(found == again)
        #expect([UInt8](try Data(contentsOf: file)) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("a.settle")) == ["database.sqlite"])
        return found
    }

    /// The bytes of a database with a few documents.
    private func soundFile() throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder("a.settle"))
        for number in 0..<50 { try database.add(DocumentID(validating: "d\(number)")) }
        try database.compact()
        database.close()
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("a.settle/database.sqlite"))))
    }

    @Test func `opening a path that is not a database throws notADatabase, and changes nothing`() throws {
        let folder = try TemporaryFolder()
        try RawSQLite(folder("other.sqlite")).run("CREATE TABLE t(a)")
        try Data("Dear diary".utf8).write(to: URL(fileURLWithPath: folder("diary.txt")))
        try Data().write(to: URL(fileURLWithPath: folder("empty")))
        try FileManager.default.createDirectory(atPath: folder("photos"), withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: folder("photos/a.jpg")))
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder("")).sorted()
        for name in ["other.sqlite", "diary.txt", "empty", "photos"] {
            let calls: [() throws -> Any] = [
                { try Database.open(folder(name)) }, { try Database.openOrCreate(folder(name)) },
                { try Database.create(folder(name)) },
            ]
            for call in calls {
                let error = #expect(throws: DatabaseError.self) { _ = try call() }
                #expect(error?.code == .notADatabase, "\(name): \(String(describing: error))")
                #expect(error?.message.contains(folder(name)) == true)
            }
        }
        for name in ["other.sqlite", "diary.txt", "empty"] {
            #expect(code { try DocumentStore(path: folder(name)) } == .notADatabase)
        }
        let store = try DocumentStore(path: folder(""))
        try Data([1]).write(to: URL(fileURLWithPath: folder("notes.settle")))
        #expect(code { try store.open("notes") } == .notADatabase)
        #expect(code { try store.openOrCreate("notes") } == .notADatabase)
        try FileManager.default.removeItem(atPath: folder("notes.settle"))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder("")).sorted() == before)
        try FileManager.default.createDirectory(atPath: folder("new"), withIntermediateDirectories: true)
        #expect(code { try Database.open(folder("new")) } == .notFound)
        try Database.openOrCreate(folder("new")).close()
    }

    @Test func `an empty file is corrupt`() throws {
        #expect(try codeOfOpening([]) == .corrupt)
    }

    @Test func `a file that is not SQLite is not a database`() throws {
        #expect(try codeOfOpening(Array("Dear diary".utf8)) == .notADatabase)
        #expect(try codeOfOpening(Array(repeating: 0x20, count: 100_000)) == .notADatabase)
    }

    @Test func `a file of another application is not a database`() throws {
        let folder = try TemporaryFolder()
        try RawSQLite(folder("x.sqlite")).run("CREATE TABLE t(a); PRAGMA application_id = 77; PRAGMA user_version = 1")
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("x.sqlite"))))
        #expect(try codeOfOpening(bytes) == .notADatabase)
    }

    @Test func `a newer format is named in the error`() throws {
        var bytes = try soundFile()
        bytes[60..<64] = [0, 0, 0, 99]
        #expect(try codeOfOpening(bytes) == .newerFormat)
        bytes[60..<64] = [0, 0, 0, 0]
        #expect(try codeOfOpening(bytes) == .corrupt)
    }

    @Test func `a truncated file is corrupt`() throws {
        let bytes = try soundFile()
        #expect(try codeOfOpening(Array(bytes.dropLast(4096))) == .corrupt)
        #expect(try codeOfOpening(Array(bytes.prefix(5000))) == .corrupt)
        #expect([.corrupt, .notADatabase].contains(try codeOfOpening(Array(bytes.prefix(50)))))
    }

    @Test func `a damaged page is an error where it is read, and opening changes nothing`() throws {
        let folder = try TemporaryFolder()
        let path = folder("a.settle")
        try Database.create(path).close()
        var bytes = try soundFile()
        for index in 100..<bytes.count { bytes[index] = 0xA5 }
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/database.sqlite"))
        #expect(code { try Database.open(path).documents() } == .corrupt)
        #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/database.sqlite"))) == bytes)
    }

    @Test func `a missing database is not found and nothing is created`() throws {
        let folder = try TemporaryFolder()
        #expect(code { try Database.open(folder("none.settle")) } == .notFound)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `a place without write permission is an error`() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder("file")))
        #expect(code { try Database.create(folder("file/a.settle")) } == .inputOutput)
        #expect(code { try Database.create("/proc/a.settle") } == .inputOutput)
    }

    @Test func `a read-only folder is an error, except to the superuser`() throws {
        let folder = try TemporaryFolder()
        try Database.create(folder("a.settle")).close()
        try FileManager.default.removeItem(atPath: folder("a.settle/lock"))
        chmod(folder("a.settle"), 0o555)
        defer { chmod(folder("a.settle"), 0o755) }
        #expect(code { try Database.open(folder("a.settle")) } == (geteuid() == 0 ? nil : .inputOutput))
    }
}
