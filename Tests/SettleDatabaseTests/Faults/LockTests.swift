import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite struct LockTests {
    @Test func `a closed database can be opened again while the old object exists`() throws {
        let folder = try TemporaryFolder()
        let old = try Database.create(folder.path("a"))
        try old.save(Document(id: "milk"), onConflict: .fail)
        old.close()
        let new = try Database.open(folder.path("a"))
        #expect(try new.document("milk") != nil)
        #expect(throws: DatabaseError.self) { try old.document("milk") }
    }

    #if os(Linux)
    @Test func `a child process between fork and exec does not keep the lock`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder.path("a"))
        // A fork leaves a copy of the descriptor in the child until it executes its own program.
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name -> Int32? in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.hasSuffix(folder.path("a/lock")) == true ? Int32(name).map { dup($0) } : nil
        }
        defer { for copy in copies { close(copy) } }
        try #require(!copies.isEmpty)
        database.close()
        try Database.open(folder.path("a")).close()
    }
    #endif

    @Test func `a released database can be opened at once`() throws {
        let folder = try TemporaryFolder()
        for number in 0..<20 {
            try Database.openOrCreate(folder.path("a")).save(
                Document(id: DocumentID(unchecked: "d\(number)")), onConflict: .fail)
        }
        #expect(try Database.open(folder.path("a")).documents().count == 20)
    }
}
