import Dispatch
import Foundation
import PostgresTesting
import SettleCore
import SettleDatabase
import SettlePlatform
import Testing

@testable import SettlePostgres

/// Whether a feed that reads "everything after the last sequence I saw" sees every change, whatever the order of commits.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresVisibilityTests {
    private static let writers = 8
    private static let writes = 60

    @Test func `feeds on two nodes see the last state of every document`() throws {
        let (first, database, name) = try Cluster.newDatabase()
        let second = try Cluster.node()
        let nodes = [database, try second.open(name)]
        let isOver = Flag()
        let seen = nodes.map { _ in Log<[DocumentID: RevisionID]>([:]) }
        let feeds = try zip(nodes, seen).map { node, log in
            try SystemThread {
                var since = UpdateSequence(0)
                while true {
                    let isLast = isOver.isSet
                    guard let page = try? node.changes(since: since, limit: 50) else { return }
                    for change in page { log.update { $0[change.id] = change.winner } }
                    since = page.last?.sequence ?? since
                    if isLast, page.isEmpty { return }
                }
            }
        }
        onThreads(Self.writers) { writer in
            var generator = SystemRandomNumberGenerator()
            for number in 0..<Self.writes {
                let id = DocumentID(unchecked: "d\(Int.random(in: 0..<40, using: &generator))-\(writer)")
                _ = try? nodes[number % 2].save(
                    Document(id: id, body: ["n": .number(JSONNumber(number))]), onConflict: .lastWriteWins)
                if number % 7 == 0 { usleep(UInt32.random(in: 0..<3000, using: &generator)) }
            }
        }
        isOver.set()
        for feed in feeds { feed.join() }
        let all = try database.changes(since: 0, limit: .max)
        let last = [DocumentID: RevisionID](uniqueKeysWithValues: all.map { ($0.id, $0.winner) })
        #expect(last.count > 100)
        for log in seen {
            let found = log.value
            let missed = last.filter { found[$0.key] != $0.value }
            #expect(missed.isEmpty, "a feed missed \(missed.count) of \(last.count) documents")
        }
        withExtendedLifetime((first, second)) {}
    }

    /// The same with numbers that are taken before the commit, as most do: it must lose changes, or the test above shows nothing.
    @Test func `numbers taken before the commit lose changes, which this kind of test notices`() throws {
        _ = try Cluster.node()
        let owner = try Cluster.owner()
        let table = "naive_\(UInt32.random(in: 0 ... .max))"
        let maker = try PostgresConnection(owner.connectionParameters())
        try maker.runText("CREATE TABLE public.\(table) (number bigserial PRIMARY KEY, name text)")
        defer { _ = try? maker.runText("DROP TABLE public.\(table)") }
        let isOver = Flag()
        let seen = Log<Set<String>>([])
        let feed = Lender(try PostgresConnection(owner.connectionParameters()))
        let hasBegun = DispatchSemaphore(value: 0)
        let reader = try SystemThread {
            var since: Int64 = 0
            while true {
                let isLast = isOver.isSet
                guard
                    let rows = try? feed.value.runText(
                        "SELECT number, name FROM public.\(table) WHERE number > \(since) ORDER BY number LIMIT 50")[0]
                else { return }
                let names = rows.map { rows.text($0, 1) }
                seen.update { $0.formUnion(names) }
                if rows.count > 0 { since = rows.integer(rows.count - 1, 0) }
                hasBegun.signal()
                if isLast, rows.count == 0 { return }
            }
        }
        hasBegun.wait()
        onThreads(Self.writers) { writer in
            guard let connection = try? PostgresConnection(owner.connectionParameters()) else { return }
            for number in 0..<Self.writes {
                _ = try? connection.runText("BEGIN")
                _ = try? connection.runText("INSERT INTO public.\(table) (name) VALUES ('\(writer)-\(number)')")
                usleep(UInt32.random(in: 0..<2000))
                _ = try? connection.runText("COMMIT")
            }
        }
        isOver.set()
        reader.join()
        #expect(seen.value.count < Self.writers * Self.writes)
    }
}
