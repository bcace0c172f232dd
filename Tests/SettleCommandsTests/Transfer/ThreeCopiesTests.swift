import Settle
import Testing

@testable import SettleCommands

struct ThreeCopiesTests {
    /// Three databases that are edited, exchanged, settled and compacted in an order that follows from a number.
    private struct Copies {
        let databases: [Database]
        let policies: [ConflictPolicy]
        private var state: UInt64

        init(seed: Int, _ policies: [ConflictPolicy]) throws {
            var options = DatabaseOptions()
            options.warn = { _ in }
            databases = try (0..<3).map { _ in try Database.inMemory(options: options) }
            state = UInt64(seed)
            let shift = seed / 2
            // Every second time all use one policy, else each one another.
            self.policies = (0..<3).map { policies[(shift + (seed % 2 == 0 ? 0 : $0)) % policies.count] }
        }

        mutating func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }

        mutating func act() throws {
            let index = random(3)
            let database = databases[index]
            let id: DocumentID = random(2) == 0 ? "first" : "second"
            switch random(10) {
            case 0..<5:
                var document = try database.document(id) ?? Document(id: id)
                document[["a", "b", "c"][random(3)]] = .number(JSONNumber(random(9)))
                try database.save(document, onConflict: .lastWriteWins)
            case 5: if let document = try database.document(id) { try database.delete(document, onConflict: .fail) }
            case 6: try database.settleAll(using: policies[index])
            case 7: try database.compact()
            default: _ = try exchange(index)
            }
        }

        /// Exchanges with the next one; returns how many revisions were new.
        func exchange(_ index: Int) throws -> Int {
            let (first, second) = (databases[index], databases[(index + 1) % 3])
            let transfers = [(first, second), (second, first)].map { source, target in
                OneWayTransfer(from: source, to: target) { id, _, error in Issue.record("\(id): \(error)") }
            }
            for transfer in transfers { try transfer.run { _ in } }
            for transfer in transfers { try transfer.bringBases() }
            return transfers.reduce(0) { $0 + $1.counts.revisions }
        }

        /// Exchanges and settles everywhere; returns how many revisions were new.
        func round() throws -> Int {
            var count = 0
            for index in 0..<3 { count += try exchange(index) }
            for (database, policy) in zip(databases, policies) {
                count += try database.settleAll(using: policy).revisionsWritten
            }
            return count
        }
    }

    @Test(arguments: 1...60)
    func `whatever was done to three copies, they become equal and quiet`(seed: Int) throws {
        var copies = try Copies(
            seed: seed,
            [
                .threeWayMerge(), .deletesWin, .localWins, .mostRevisions, .remoteWins, .threeWayMerge(onClash: .sum),
                .threeWayMerge(deletionsWin: true),
            ])
        for _ in 0..<(5 + copies.random(25)) { try copies.act() }
        var rounds = 0
        while rounds < 20, try copies.round() > 0 { rounds += 1 }
        #expect(rounds < 20, "not quiet with \(copies.policies)")
        let leaves = try copies.databases.map { database in
            try ["first", "second"].flatMap { try database.leaves(of: $0) }
        }
        #expect(leaves[1] == leaves[0] && leaves[2] == leaves[0], "\(copies.policies)")
        for database in copies.databases {
            #expect(try database.conflictedDocumentIDs() == [])
            #expect(try database.verify().problems == [])
        }
    }
}
