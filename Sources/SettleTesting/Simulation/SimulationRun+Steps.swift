internal import Settle

extension SimulationRun {
    private struct Crash: Error {}

    /// Runs a step. A step in which the replica crashes runs in a transaction that is rolled back.
    func take(_ step: SimulationStep) throws {
        let replica = replicas[step.replica % replicas.count]
        guard step.crashes, step.kind.isTransaction else { return try act(step, on: replica) }
        let kept = (ledgers, answers, story, inFlight, replicas.map(\.seen), stamps)
        let trees = try schedule.documents.map { try replica.tree($0) }
        let sequence = try replica.database.lastSequence()
        do {
            try replica.database.transaction {
                try act(step, on: replica)
                throw Crash()
            }
        } catch is Crash {}
        (ledgers, answers, story, inFlight) = (kept.0, kept.1, kept.2, kept.3)
        stamps = kept.5
        for (replica, seen) in zip(replicas, kept.4) { replica.seen = seen }
        tell("    \(replica.index) crashes before it has done: \(step.kind.rawValue)")
        try replica.reopen()
        let isUnchanged = try zip(schedule.documents, trees).allSatisfy { try replica.tree($0) == $1 }
        try expect(
            try isUnchanged && replica.database.lastSequence() == sequence, .nothingOfACrash,
            "replica \(replica.index) crashed in the middle of \(step.kind.rawValue) and is not as it was")
    }

    private func act(_ step: SimulationStep, on replica: SimulatedReplica) throws {
        var random = SeededRandom(seed: step.number)
        let id = schedule.documents[step.document % schedule.documents.count]
        for replica in replicas { replica.clock?.step(by: 1 + Int64(step.number % 2000)) }
        let peer = replicas[step.peer % replicas.count]
        switch step.kind {
        case .edit: try edit(id, on: replica, &random)
        case .editLoser: try editLoser(id, on: replica, &random)
        case .attach: try attach(id, on: replica, &random)
        case .delete: try delete(id, on: replica)
        case .revive: try revive(id, on: replica, &random)
        case .editAndDelete: try editAndDelete(id, on: replica, &random)
        case .closeByHand: try closeByHand(id, on: replica, &random)
        case .exchange:
            guard replica.group == peer.group else { return }
            try deliver(try pack(for: replica, from: peer, &random), inPieces: random.oneIn(4))
        case .send:
            guard replica.group == peer.group else { return }
            inFlight.append(try pack(for: replica, from: peer, &random))
        case .deliver:
            guard !inFlight.isEmpty else { return }
            let position = random.below(inFlight.count)
            try deliver(inFlight[position], inPieces: random.oneIn(4))
            if !random.oneIn(4) { inFlight.remove(at: position) }
        case .part:
            for replica in replicas { replica.group = random.below(2) }
            tell("    the replicas part: \(replicas.map { "\($0.group)" }.joined())")
        case .meet:
            for replica in replicas { replica.group = 0 }
            tell("    the replicas meet again")
        case .settle: try settle(id, on: replica)
        case .settleAll: try settleAll(on: replica)
        case .compact:
            tell("    \(replica.index) compacts")
            isCompacted = true
            try replica.database.compact()
        case .limit:
            let limit = 2 + random.below(5)
            tell("    \(replica.index) keeps \(limit) revisions a branch")
            isStemmed = true
            try replica.database.setRevisionLimit(limit)
        case .reopen: try replica.reopen()
        case .editForeign: try editForeign(id, on: replica, &random)
        case .setClock:
            let step = random.below(2 * Self.day) - Self.day
            tell("    the clock of \(replica.index) steps by \(step) ms")
            replica.clock?.step(by: Int64(step))
        }
    }
}

extension SimulationStep.Kind {
    /// Whether it can be rolled back in the middle.
    fileprivate var isTransaction: Bool {
        switch self {
        case .edit, .editLoser, .attach, .delete, .revive, .editAndDelete, .closeByHand, .settle, .settleAll,
            .editForeign:
            true
        case .exchange, .send, .deliver, .part, .meet, .compact, .limit, .reopen, .setClock: false
        }
    }
}
