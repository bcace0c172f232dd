import Foundation
import Settle
import SettleTesting
import Testing

/// How many index files are open at the same time.
struct OpenIndexTests {
    private static func view(_ number: Int) -> MapIndex<Int, Int> {
        MapIndex("view \(number)", version: 1) { document, emit in emit((document["n"]?.int ?? 0) + number, number) }
    }

    private static func database(_ folder: TemporaryFolder) throws -> Database {
        let database = try Database.openOrCreate(folder.path + "/open.settle")
        for number in 0..<3 {
            let id = DocumentID(stringLiteral: "d\(number)")
            try database.save(Document(id: id, body: ["n": .number(JSONNumber(number))]), onConflict: .fail)
        }
        return database
    }

    #if os(Linux)
    /// How many of this process's descriptors are files below a folder.
    private static func descriptors(below folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name))?.hasPrefix(folder)
                == true
        }
    }

    @Test func `many views that are changed and queried keep a bounded number of files open`() throws {
        let folder = try TemporaryFolder()
        let database = try Self.database(folder)
        defer { database.close() }
        for number in 0..<60 {
            #expect(try database.rows(of: Self.view(number)).map(\.key) == [number, number + 1, number + 2])
            let search = TextIndex("texts \(number)", fields: ["t"])
            #expect(try database.search("nothing", in: search).isEmpty)
        }
        #expect(try Self.descriptors(below: folder.path + "/open.settle/views") <= 100)
        // Indexes whose files were closed continue where they were.
        try database.save(Document(id: "d3", body: ["n": 3]), onConflict: .fail)
        for number in 0..<60 {
            #expect(try database.rows(of: Self.view(number)).map(\.key) == [0, 1, 2, 3].map { $0 + number })
        }
        #expect(try Self.descriptors(below: folder.path + "/open.settle/views") <= 100)
    }
    #endif

    @Test func `indexes whose files are repeatedly closed and opened answer correctly`() async throws {
        let folder = try TemporaryFolder()
        var options = DatabaseOptions()
        options.openIndexes = 2
        let database = try Database.openOrCreate(folder.path + "/few.settle", options: options)
        defer { database.close() }
        let failures = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<6 {
                group.addTask {
                    try await database.perform { database in
                        for round in 0..<40 {
                            let id = DocumentID(stringLiteral: "t\(thread)-\(round)")
                            try database.save(
                                Document(id: id, body: ["n": .number(JSONNumber(round))]), onConflict: .fail)
                            let view = Self.view((thread + round) % 5)
                            let before = try database.count(of: view)
                            let rows = try database.rows(of: view, in: .key(round + view.number))
                            if before < round + 1 || !rows.contains(where: { $0.id == id }) { failures.add(1) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(failures.value == 0)
        for number in 0..<5 { #expect(try database.count(of: Self.view(number)) == 240) }
    }
}

extension MapIndex<Int, Int> {
    /// The number at the end of its name.
    fileprivate var number: Int { Int(name.split(separator: " ").last ?? "") ?? 0 }
}
