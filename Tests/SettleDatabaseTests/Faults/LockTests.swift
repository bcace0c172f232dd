import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite struct LockTests {
    @Test func `a database that was closed can be opened while the old object lives`() throws {
        let folder = try TemporaryFolder()
        let old = try Database.create(folder.path("a"))
        try old.save(Document(id: "milk"), onConflict: .fail)
        old.close()
        let new = try Database.open(folder.path("a"))
        #expect(try new.document("milk") != nil)
        #expect(throws: DatabaseError.self) { try old.document("milk") }
    }

    @Test func `a database that was let go can be opened at once`() throws {
        let folder = try TemporaryFolder()
        for number in 0..<20 {
            try Database.openOrCreate(folder.path("a")).save(
                Document(id: DocumentID(unchecked: "d\(number)")), onConflict: .fail)
        }
        #expect(try Database.open(folder.path("a")).documents().count == 20)
    }
}
