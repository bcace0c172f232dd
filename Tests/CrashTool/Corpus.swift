import CSQLite
import Foundation
import Settle

/// Seeds for the fuzzers that can't be written by hand: packed trees, and the file of a small database.
struct Corpus {
    let folder: String

    func make() throws {
        for name in ["file", "tree"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        let sample = folder + "/sample.settle"
        try Fixture(folder: sample).make()
        let file = sample + "/database.sqlite"
        try saveTrees(of: sample)
        // Small pages let the fuzzer reach everything with few bytes.
        try run("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM; PRAGMA journal_mode = WAL", on: file)
        try FileManager.default.copyItem(atPath: file, toPath: folder + "/file/all-kinds")
        try run("DELETE FROM blobs; DELETE FROM contents; DELETE FROM documents WHERE sequence > 3; VACUUM", on: file)
        try run("PRAGMA journal_mode = DELETE", on: file)
        try FileManager.default.copyItem(atPath: file, toPath: folder + "/file/few-documents")
        try FileManager.default.removeItem(atPath: sample)
    }

    private func saveTrees(of sample: String) throws {
        let database = try Database.open(sample)
        defer { database.close() }
        for change in try database.changes() {
            guard let tree = try database.tree(of: change.id) else { continue }
            let name = change.id.string.filter { $0.isASCII && $0.isLetter }
            try Data(tree.packed()).write(to: URL(filePath: "\(folder)/tree/\(name)"))
        }
    }

    private func run(_ sql: String, on file: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        guard sqlite3_open(file, &handle) == SQLITE_OK, sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw DatabaseError(.notFound, String(cString: sqlite3_errmsg(handle)))
        }
    }
}
