internal import SettleCore
internal import SettleDatabase

/// Conflicts that a flow brings, and those that were here before.
extension FlowExecutor {
    /// Settles the next ones.
    mutating func settleNext(_ group: inout TaskGroup<Event>) {
        guard let settler else { return }
        while let id = conflicts.next() {
            let known = decided.removeValue(forKey: id)
            group.addTask {
                if let known { return .settled(id, known.map { Optional($0) }) }
                return .settled(id, await settler.settle(id))
            }
        }
        performDeferred(&group)
    }

    /// Takes conflicts that were here before (SEMANTICS 31, 32), and looks for more when these are nearly settled.
    mutating func take(_ ids: [DocumentID], next: ConflictSettler.Place?, _ group: inout TaskGroup<Event>) {
        conflicts.take(ids, goesOn: next != nil)
        guard let settler, let next else { return }
        group.addTask { await settler.sweep(from: next) }
    }

    /// Takes what became of a conflict: one event, after it (SEMANTICS 33).
    mutating func settled(
        _ id: DocumentID, _ result: Result<Settlement?, DatabaseError>, _ group: inout TaskGroup<Event>
    ) {
        let (kept, isLast) = conflicts.finish(id)
        let report = kept ?? DocumentReport(id: id, revisions: [], isDeleted: false)
        switch result {
        case .success(let settlement):
            if settlement?.outcome == .settled { flow.counts.conflictsSettled += 1 }
            if settlement != nil { state.note { $0.clear(id, nil) } }
            // One that stays or had been settled by somebody else is no news, unless the document is.
            guard let settlement, settlement.outcome != .nothing else {
                if kept != nil { isLast ? send(report, .replicated) : conflicts.keep(report) }
                return
            }
            send(report, .settled(settlement))
        case .failure(let error):
            guard error.code != .closed else { return }
            flow.counts.conflictsFailed += 1
            conflicts.noteFailure(id)
            state.note { $0.note(id, nil, .conflicted, reason: error.message, status: nil) }
            send(report, .unsettled(error))
        }
    }
}
