import PostgresTesting
import Settle
import SettleTesting
import Testing

/// Every policy on every tree of up to four leaves, live and deleted, against rules written down independently.
@Suite struct TruthTableTests {
    /// A policy's expected decision about the candidates, winner first.
    enum Verdict {
        case nothing
        case keep(ShapedDocument.Stored)
        case merge
        case delete
    }

    struct Row: Sendable, CustomStringConvertible {
        let name: String
        let policy: ConflictPolicy
        let deletions: Bool
        let verdict: @Sendable ([ShapedDocument.Stored], Conflict?) -> Verdict
        var description: String { name }
    }

    /// One side of a conflict, else the winner. Which side a leaf is on depends on the history, and is tested
    /// separately.
    private static func side(_ candidates: [ShapedDocument.Stored], _ side: Document?) -> Verdict {
        .keep(candidates.first { $0.revision == side?.revision } ?? candidates[0])
    }

    static let rows = [
        Row(name: "keepAll", policy: .keepAll, deletions: false) { _, _ in .nothing },
        Row(name: "mostRevisions", policy: .mostRevisions, deletions: false) { candidates, _ in .keep(candidates[0]) },
        Row(name: "deletesWin", policy: .deletesWin, deletions: true) { candidates, _ in
            .keep(candidates.first { !$0.state.isLive } ?? candidates[0])
        },
        Row(name: "localWins", policy: .localWins, deletions: true) { side($0, $1?.local) },
        Row(name: "remoteWins", policy: .remoteWins, deletions: true) { side($0, $1?.remote) },
        Row(name: "threeWayMerge", policy: .threeWayMerge(), deletions: false) { _, _ in .merge },
        Row(
            name: "threeWayMerge, deletions win", policy: .threeWayMerge(deletionsWin: true), deletions: true
        ) { candidates, _ in
            candidates.first { !$0.state.isLive }.map(Verdict.keep) ?? .merge
        },
        Row(name: "leave", policy: .custom("leave", deletions: true) { _ in .leaveConflicted }, deletions: true) {
            _, _ in
            .nothing
        },
        Row(name: "delete", policy: .custom("delete", deletions: true) { _ in .delete }, deletions: true) {
            candidates, _ in
            candidates.first { !$0.state.isLive }.map(Verdict.keep) ?? .delete
        },
        Row(name: "last live", policy: .cloudant { $1.last }, deletions: false) { candidates, _ in
            .keep(candidates[candidates.count - 1])
        },
    ]

    // SEMANTICS 7, 8, 12, 16, 17, 61, 63, 67, 69, 70, 74, 75, 76, K1, K2, K3, K8, K9
    @Test(arguments: rows, 1...4)
    func `each policy decides as its rule says`(row: Row, leaves: Int) throws {
        let database = try Database.plain()
        defer { database.close() }
        // Four leaves of all six states would be thousands of trees more without new differences.
        let states: [ShapedDocument.Leaf] =
            leaves == 4 ? [.live, .edited, .deleted, .closed] : ShapedDocument.Leaf.allCases
        var number = 0
        for topology in ShapedDocument.topologies[leaves] ?? [] {
            for combination in combinations(of: states, count: leaves) {
                number += 1
                let shape = ShapedDocument(topology, combination)
                let id = try DocumentID(validating: "d\(number)")
                let stored = try shape.store(id, in: database)
                try check(row, shape, stored, id, database)
            }
        }
        #expect(number == (ShapedDocument.topologies[leaves]?.count ?? 0) * power(states.count, leaves))
        #expect(try database.problems() == [])
    }

    private func check(
        _ row: Row, _ shape: ShapedDocument, _ stored: [ShapedDocument.Stored], _ id: DocumentID, _ database: Database
    ) throws {
        let name: Comment = "\(row) on \(shape)"
        let candidates = ShapedDocument.candidates(stored, deletions: row.deletions)
        let isOpen = candidates.contains(where: \.state.isLive) && candidates.count > 1
        let conflict = try database.conflict(of: id, kinds: row.policy.kinds)
        #expect((conflict?.leaves.map(\.revision) ?? []) == (isOpen ? candidates.map(\.revision) : []), name)
        let verdict = isOpen ? row.verdict(candidates, conflict) : .nothing
        let before = try database.leaves(of: id)
        let settlement = try database.settle(id, using: row.policy)
        let after = try database.leaves(of: id)
        let untouched = before.filter { leaf in !candidates.contains { $0.revision == leaf.revision } }
        let live = after.filter { !$0.isDeleted }
        switch verdict {
        case .nothing:
            #expect(settlement.outcome == (isOpen ? .left : .nothing), name)
            #expect(after == before, name)
            return
        case .keep(let kept) where !kept.state.isLive:
            #expect(settlement.survivor == kept.revision, name)
            #expect(live == [], name)
            #expect(closings(after, of: kept.revision) == candidates.filter(\.state.isLive).count, name)
        case .keep(let kept):
            let content = before.first { $0.revision == kept.revision }
            #expect(live.map(\.json) == [content?.json], name)
            let isContested = candidates.contains { !$0.state.isLive }
            let isKept = kept.revision == candidates[0].revision && !isContested
            #expect((live[0].revision == kept.revision) == isKept, name)
            #expect(closings(after, of: live[0].revision) == candidates.count - 1, name)
        case .merge:
            let members = candidates.filter(\.state.isLive).map { "leaf\($0.number)" }
            #expect(live.count == 1, name)
            #expect(members.allSatisfy { live[0][$0] == true }, name)
            #expect(closings(after, of: live[0].revision) == candidates.count - 1, name)
        case .delete:
            #expect(live == [], name)
            #expect(closings(after, of: settlement.survivor) == candidates.count - 1, name)
            #expect(after.contains { $0.revision == settlement.survivor && $0.json == [:] }, name)
        }
        #expect(settlement.outcome == .settled, name)
        #expect(untouched.allSatisfy(after.contains), name)
        #expect(try database.conflict(of: id, kinds: row.policy.kinds) == nil, name)
    }

    /// How many leaves are tombstones that close a branch in favour of a revision.
    private func closings(_ leaves: [Document], of survivor: RevisionID?) -> Int {
        leaves.filter { $0.isDeleted && $0["$closed"]?.string == survivor?.description }.count
    }

    private func combinations(of states: [ShapedDocument.Leaf], count: Int) -> [[ShapedDocument.Leaf]] {
        guard count > 0 else { return [[]] }
        return combinations(of: states, count: count - 1).flatMap { rest in states.map { rest + [$0] } }
    }

    private func power(_ base: Int, _ exponent: Int) -> Int { (0..<exponent).reduce(1) { power, _ in power * base } }
}
