import Settle
import SettleCore
import SettleDatabase
import SettleTesting

/// Incorrect ways to settle, which other products have had: the simulator must find each.
enum PlantedFaults {
    /// Each with the rules it may break.
    static let all: [(fault: SimulatedPolicy, rules: Set<SimulationRule>)] = [
        (naiveDeletesWin, [.notVanished, .superseded]), (randomMember, [.quiet]),
        (unmarkedTombstones, [.superseded]), (clockDeclaredPure, [.sameRevisions]),
        (closesTheWinner, [.superseded, .notVanished]),
        (forgetsLosers, [.nothingLost, .sameEverywhere, .settled, .quiet]),
    ]

    /// Any tombstone counts as a deletion, so that every document that was ever settled is deleted (SEMANTICS K2).
    static let naiveDeletesWin = SimulatedPolicy(
        "naiveDeletesWin", kinds: [.branches, .deletion],
        settlingBy: { database, id, _ in
            let leaves = try database.leaves(of: id)
            let live = leaves.filter { !$0.isDeleted }
            guard let winner = live.first, leaves.count > 1 else { return }
            if let deletion = leaves.first(where: \.isDeleted) {
                try close(live, for: deletion, in: database)
            } else {
                try close(Array(live.dropFirst()), for: winner, in: database)
            }
        })

    /// The merged body contains a random number, and racing answers are not distinguished from new edits
    /// (SEMANTICS 82).
    static let randomMember = SimulatedPolicy(
        "randomMember", isPure: false,
        settlingBy: { database, id, device in
            let live = try database.leaves(of: id).filter { !$0.isDeleted }
            guard let winner = live.first, live.count > 1 else { return }
            var merged = winner
            merged["nonce"] = .string(String(device.random(), radix: 16))
            let result = try database.save(merged, onConflict: .fail)
            try close(Array(live.dropFirst()), for: result, in: database)
        })

    /// Closing tombstones are empty, as CouchDB's clients write them.
    static let unmarkedTombstones = SimulatedPolicy(
        "unmarkedTombstones",
        settlingBy: { database, id, _ in
            for loser in try database.leaves(of: id).filter({ !$0.isDeleted }).dropFirst() {
                try database.delete(loser, onConflict: .fail)
            }
        })

    /// The resolver reads the clock, and claims to be pure.
    static let clockDeclaredPure = SimulatedPolicy("clockDeclaredPure") { device in
        .custom("clock") { conflict in
            var merged = conflict.winner
            merged["at"] = .number(JSONNumber(device.now()))
            return .document(merged)
        }
    }

    /// The local leaf stays unchanged, and a winner that is not local is closed for it: another replica may do the
    /// opposite, and then no live leaf is left.
    static let closesTheWinner = SimulatedPolicy(
        "closesTheWinner", isPure: false,
        settlingBy: { database, id, _ in
            guard let conflict = try database.conflict(of: id, kinds: [.branches]) else { return }
            let local = conflict.local ?? conflict.winner
            try close(conflict.liveLeaves.filter { $0.revision != local.revision }, for: local, in: database)
        })

    /// Leaves are dropped instead of closed.
    static let forgetsLosers = SimulatedPolicy(
        "forgetsLosers",
        settlingBy: { database, id, _ in
            let losers = try database.leaves(of: id).filter { !$0.isDeleted }.dropFirst()
            try database.purge(id, revisions: losers.compactMap(\.revision))
        })

    private static func close(_ leaves: [Document], for survivor: Document, in database: Database) throws {
        let body = try DocumentBody(["$closed": .string(survivor.revision?.description ?? "")])
        for leaf in leaves {
            guard let revision = leaf.revision, let tree = try database.tree(of: leaf.id),
                let path = tree.history(of: revision)
            else { continue }
            let hasher = RevisionHasher()
            let tombstone = hasher.revision(of: body, parent: revision, isDeleted: true, attachments: [])
            let history = try RevisionHistory(
                start: tombstone.generation, signatures: [tombstone.signature] + path.signatures)
            try database.insertReplicated([
                ReplicatedRevision(id: leaf.id, history: history, isDeleted: true, body: body)
            ])
        }
    }
}
