import Foundation
import PostgresTesting
import SettleCore
import SettleDatabase
import Testing

@testable import SettlePostgres

/// Connections that break between a commit and its answer, and before a commit.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresLostAnswerTests {
    @Test(arguments: [CuttingProxy.Cut.afterCommit, .beforeCommit], [false, true])
    func `a write is acknowledged once, or refused and not there`(cut: CuttingProxy.Cut, isHeld: Bool) throws {
        let proxy = try CuttingProxy(to: Cluster.port)
        defer { proxy.stop() }
        let (first, database, name) = try Cluster.newDatabase()
        let node = try PostgresStore(Cluster.configuration(port: proxy.port))
        let cutOff = try node.open(name)
        try cutOff.save(Document(id: "warm", body: [:]), onConflict: .fail)
        for number in 0..<10 {
            let id = DocumentID(unchecked: "d\(number)")
            proxy.cutNext(cut)
            do {
                if isHeld {
                    try cutOff.save(Document(id: id, body: [:]), onConflict: .fail)
                } else {
                    _ = try cutOff.write([DocumentEdit(id: id, parent: nil, body: [:])])[0].get()
                }
                #expect(try database.document(id) != nil, "\(id) was acknowledged")
            } catch let error as DatabaseError {
                #expect(error.code == .unavailable)
                #expect(cut == .beforeCommit, "a commit that is there was refused: \(error)")
                #expect(try database.document(id) == nil, "\(id) was refused")
            }
        }
        #expect(proxy.cuts > 0)
        #expect(try database.verify().problems == [])
        withExtendedLifetime((first, node)) {}
    }

    @Test func `each open engine of a database has a mark of its own`() throws {
        let (store, name) = (try Cluster.node(), Cluster.newName())
        let engines: [any StorageEngine] = [try store.newEngine(name), try store.engine(of: name)]
        for (index, engine) in engines.enumerated() {
            try engine.hold { try $0.put(.setting(name: "x", value: "\(index)")) }
        }
        let number = try #require(try store.find([name]).first).number
        let owner = try PostgresConnection(Cluster.owner().connectionParameters())
        let marks = try owner.runText("SELECT count(*) FROM settle.marks WHERE database_id = \(number)")
        #expect(marks[0].integer(0, 0) == 2)
    }
}
