import Dispatch
import PostgresTesting
import SettleCore
import SettleDatabase
import Testing

@testable import SettlePostgres

/// Nodes that write the same documents at the same time.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresContentionTests {
    @Test(arguments: [false, true])
    func `increments by two nodes at once are all counted`(inTransactions: Bool) throws {
        let (first, database, name) = try Cluster.newDatabase()
        let second = try Cluster.node()
        let nodes = [database, try second.open(name)]
        let ids = (0..<5).map { DocumentID(unchecked: "counter\($0)") }
        for id in ids { try database.save(Document(id: id, body: ["n": 0]), onConflict: .fail) }
        let done = Log([DocumentID: Int]())
        let failures = Log([String]())
        onThreads(6) { thread in
            let node = nodes[thread % 2]
            for round in 0..<25 {
                let id = ids[(thread + round) % ids.count]
                do {
                    if inTransactions {
                        try node.transaction { try Self.increment(id, node) }
                    } else {
                        try Self.retrying { try Self.increment(id, node) }
                    }
                    done.update { $0[id, default: 0] += 1 }
                } catch { failures.update { $0.append("\(error)") } }
            }
        }
        #expect(failures.value == [])
        for id in ids {
            let count = try database.document(id)?["n"]?.int
            #expect(count == done.value[id], "\(id)")
        }
        #expect(done.value.values.reduce(0, +) == 150)
        #expect(try database.verify().problems == [])
        withExtendedLifetime((first, second)) {}
    }

    private static func increment(_ id: DocumentID, _ node: Database) throws {
        guard let record = try node.storedRecord(of: id, withContent: true), let content = record.content else {
            return
        }
        let count = content.body.json["n"]?.int ?? 0
        let edit = DocumentEdit(
            id: id, parent: record.tree.winner?.revision, body: ["n": .number(JSONNumber(count + 1))])
        _ = try node.write([edit])[0].get()
    }

    private static func retrying(_ body: () throws -> Void) throws {
        while true {
            do { return try body() } catch let error as DatabaseError where error.code == .conflict {}
        }
    }

    @Test func `side records that a part or a question has sent are committed`() throws {
        let (store, database, _) = try Cluster.newDatabase()
        try database.transaction {
            _ = try database.transaction { try database.saveLocalDocument("_local/part", body: ["v": 1]) }
        }
        try database.transaction {
            try database.saveLocalDocument("_local/question", body: ["v": 1])
            _ = try database.info()
        }
        #expect(try database.localDocuments().map(\.id) == ["_local/part", "_local/question"])
        withExtendedLifetime(store) {}
    }

    @Test func `pins of uploads are locked in the order of their names`() throws {
        let (store, _, name) = try Cluster.newDatabase()
        let number = try #require(try store.find([name]).first).number
        let names = (UInt8(0)..<16).map { [UInt8](repeating: $0, count: 16) }
        let connection = try store.pool.connect()
        // Without an index, a scan finds rows in the order in which they were written.
        for setting in ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"] {
            try connection.runText("SET \(setting) = off")
        }
        for name in names.reversed() {
            _ = try connection.run([PostgresCall(.newUpload, .integer(number), .bytes(name))])
        }
        let locked = try connection.run([.lock(names.shuffled(), of: number)])[0]
        #expect(locked.map { locked.bytes($0, 0) } == names)
    }

    @Test func `of a new document that two nodes make at once there is one`() throws {
        let (first, database, name) = try Cluster.newDatabase()
        let second = try Cluster.node()
        let nodes = [database, try second.open(name)]
        let won = Log([String]())
        onThreads(8) { thread in
            for number in 0..<20 {
                let edit = DocumentEdit(
                    id: DocumentID(unchecked: "new\(number)"), parent: nil, body: ["by": .number(JSONNumber(thread))])
                if case .success? = try? nodes[thread % 2].write([edit])[0] {
                    won.update { $0.append("new\(number)") }
                }
            }
        }
        #expect(won.value.sorted() == (0..<20).map { "new\($0)" }.sorted())
        #expect(try database.info().documents.live == 20)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a setting that another node changes makes a write run again with it`() throws {
        let (first, database, name) = try Cluster.newDatabase()
        let second = try Cluster.node()
        let other = try second.open(name)
        try database.setRevisionLimit(5)
        _ = try other.write([DocumentEdit(id: "a", parent: nil, body: ["n": 0])])
        try database.setRevisionLimit(2)
        for number in 1...6 {
            let parent = try other.storedRecord(of: "a", withContent: false)?.tree.winner?.revision
            _ = try other.write([DocumentEdit(id: "a", parent: parent, body: ["n": .number(JSONNumber(number))])])[0]
                .get()
        }
        #expect(try other.storedRecord(of: "a", withContent: false)?.tree.allNodes.count == 2)
        withExtendedLifetime((first, second)) {}
    }
}
