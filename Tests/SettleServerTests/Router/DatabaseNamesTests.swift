import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// `_all_dbs`: names kept in memory, whoever made the databases.
@Suite struct DatabaseNamesTests {
    private func names(_ client: RouterClient, _ query: String = "") throws -> [String] {
        try client.send("GET", "/_all_dbs\(query)").json.array?.compactMap(\.string) ?? []
    }

    /// Waits until the file system would give a change of the folder another time than it has: its clock is coarse.
    private func waitForFileTime(after client: RouterClient) throws {
        func time(_ path: String) throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        }
        let last = try #require(try time(client.folder.path))
        let other = try TemporaryFolder()
        waitUntil("the file system's clock goes on") {
            try Data().write(to: URL(filePath: other("file")))
            return try time(other("file")).map { $0 > last } ?? false
        }
    }

    @Test func `what the server creates and deletes is listed at once`() throws {
        let client = try RouterClient()
        #expect(try names(client) == [])
        for name in ["c", "a", "b%2Fx"] { _ = try client.send("PUT", "/\(name)") }
        #expect(try names(client) == ["a", "b/x", "c"])
        _ = try client.send("DELETE", "/a")
        #expect(try client.send("PUT", "/c").status == 412)
        #expect(try names(client) == ["b/x", "c"])
    }

    @Test func `what another program creates and deletes is listed by the next request`() throws {
        let client = try RouterClient()
        _ = try client.send("PUT", "/a")
        #expect(try names(client) == ["a"])
        let store = try DocumentStore(path: client.folder.path)
        try waitForFileTime(after: client)
        try store.create("b").close()
        #expect(try names(client) == ["a", "b"])
        try waitForFileTime(after: client)
        try store.delete("a")
        _ = try client.send("PUT", "/c")
        #expect(try names(client) == ["b", "c"])
    }

    @Test func `a folder that is being copied is listed once its file is there`() throws {
        let client = try RouterClient()
        _ = try client.send("PUT", "/a")
        let copy = client.folder("copy.settle")
        try waitForFileTime(after: client)
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        #expect(try names(client) == ["a"])
        try FileManager.default.copyItem(
            atPath: client.folder("a.settle/database.sqlite"), toPath: copy + "/database.sqlite")
        #expect(try names(client) == ["a", "copy"])
    }

    @Test func `a page has what its keys ask for, in both directions`() throws {
        let client = try RouterClient()
        let all = ["b", "d", "f", "h"]
        for name in all { _ = try client.send("PUT", "/\(name)") }
        let keys: [String?] = [nil, "a", "b", "c", "f", "h", "i"]
        for start in keys {
            for end in keys {
                for isDescending in [false, true] {
                    for isInclusive in [true, false] {
                        var expected = isDescending ? all.reversed() : all
                        if let start { expected = expected.filter { isDescending ? $0 <= start : $0 >= start } }
                        if let end {
                            expected = expected.filter {
                                (isDescending ? $0 > end : $0 < end) || (isInclusive && $0 == end)
                            }
                        }
                        var query = "?descending=\(isDescending)&inclusive_end=\(isInclusive)"
                        if let start { query += "&startkey=%22\(start)%22" }
                        if let end { query += "&endkey=%22\(end)%22" }
                        #expect(try names(client, query) == expected, "\(query)")
                        #expect(
                            try names(client, query + "&skip=1&limit=2") == Array(expected.dropFirst().prefix(2)),
                            "\(query)")
                    }
                }
            }
        }
    }

    @Test func `databases created and deleted on many threads are listed as they are in the end`() async throws {
        let client = try RouterClient()
        _ = try names(client)
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<10 {
                        _ = try? client.send("PUT", "/db\(number)")
                        _ = try? names(client)
                        if round % 2 == 0 || number % 2 == 0 { _ = try? client.send("DELETE", "/db\(number)") }
                    }
                }
            }
        }
        #expect(try names(client) == ["db1", "db3", "db5", "db7"])
    }
}
