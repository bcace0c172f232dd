import CSQLite
import Foundation
import Settle
import Testing

struct CompactionMemoryTests {
    @Test func `compaction needs no memory for the whole file`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).settle").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = DatabaseOptions()
        options.cacheBytes = 1024 * 1024
        let database = try Database.create(path, options: options)
        let text = JSON.string(String(repeating: "x", count: 1_000_000))
        for number in 0..<96 {
            try database.save(
                Document(id: DocumentID(validating: "d\(number)"), body: DocumentBody(["t": text])), onConflict: .fail)
        }
        // Other tests use memory meanwhile, far less than the 96 MB of the file.
        sqlite3_memory_highwater(1)
        try database.compact()
        #expect(sqlite3_memory_highwater(0) < 64_000_000)
        database.close()
    }
}
