internal import Settle
import SettleCore

extension SimulationRun {
    static let day = 86_400_000

    /// Records the times of a user's save.
    func noteStamps(_ document: Document, before: Document?, on replica: SimulatedReplica) throws {
        guard replica.clock != nil else { return }
        let goesByClocks = schedule.policies.allSatisfy { $0.name == "latestAttributeWins" }
        // If a branch was discarded as a whole, new stamps need not be later than those in it.
        let isWhole = goesByClocks && ledgers[document.id]?.wasDeleted != true
        let old = Self.moments(before)
        for (path, moment) in Self.moments(document) where old[path] != moment {
            let known = stamps[document.id, default: StampLedger()].latest[path]
            try expect(
                !isWhole || known.map { $0.device != moment.device || $0 < moment } ?? true, .latestStays,
                "replica \(replica.index) stamps \(path) of \(document.id) with \(moment), after \(moment.device)'s own \(known.map { "\($0)" } ?? "")"
            )
            stamps[document.id, default: StampLedger()].latest[path] = max(known ?? moment, moment)
        }
    }

    private static func moments(_ document: Document?) -> [String: FieldClock] {
        guard let document, !document.isDeleted else { return [:] }
        let all = ClockedDocument(document.json.object ?? JSONObject()).moments
        return Dictionary(all.map { ($0.path, $0.moment) }) { first, _ in first }
    }

    /// An edit by software without clocks: it keeps unknown members, or sometimes drops them.
    func editForeign(_ id: DocumentID, on replica: SimulatedReplica, _ random: inout SeededRandom) throws {
        guard let before = try replica.database.document(id) else { return }
        var edited = before
        Self.change(&edited, &random)
        if random.oneIn(4) {
            edited[ClockedDocument.memberName] = nil
            stamps[id, default: StampLedger()].lostClocks = true
        }
        let names = Set((before.json.object?.names ?? []) + (edited.json.object?.names ?? []))
        stamps[id, default: StampLedger()].foreign.formUnion(names.filter { before[$0] != edited[$0] })
        try replica.database.setFieldClocks(false)
        try replica.database.save(edited, onConflict: .fail)
        try replica.database.setFieldClocks(true)
        tell("    software without clocks edits \(id)")
        try note(id, on: replica, ofUser: true)
    }

    /// The latest change of each member is kept, if nothing was deleted and all was settled by the clocks.
    func checkStamps(_ id: DocumentID) throws {
        guard let ledger = stamps[id], !ledger.lostClocks, ledgers[id]?.wasDeleted == false,
            schedule.policies.allSatisfy({ $0.name == "latestAttributeWins" }),
            try !replicas[0].tree(id).isConflicted
        else { return }
        let ends = Self.moments(try replicas[0].database.document(id))
        for (path, moment) in ledger.latest where ledger.covers(path) {
            var around = path[...]
            var isKept = ends[path].map { $0 >= moment } ?? false
            while !isKept, let slash = around.lastIndex(of: "/") {
                around = around[..<slash]
                isKept = ends[String(around)].map { $0 > moment } ?? false
            }
            try expect(
                isKept, .latestStays,
                "\(path) of \(id) was changed at \(moment), and ends with \(ends[path].map { "\($0)" } ?? "none")")
        }
    }
}
