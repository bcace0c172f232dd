internal import Settle

extension SimulationRun {
    private struct Crash: Error {}

    /// Runs a step. A step in which the replica crashes runs in a transaction that is rolled back.
    func run(_ step: SimulationStep) throws {
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
        log("    \(replica.index) crashes before it has done: \(step.kind.rawValue)")
        try replica.reopen()
        let isUnchanged = try zip(schedule.documents, trees).allSatisfy { try replica.tree($0) == $1 }
        try expect(
            try isUnchanged && replica.database.lastSequence() == sequence, .nothingOfACrash,
            "replica \(replica.index) crashed in the middle of \(step.kind.rawValue) and its state has changed")
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
            log("    the replicas part: \(replicas.map { "\($0.group)" }.joined())")
        case .meet:
            for replica in replicas { replica.group = 0 }
            log("    the replicas meet again")
        case .settle: try settle(id, on: replica)
        case .settleAll: try settleAll(on: replica)
        case .compact:
            log("    \(replica.index) compacts")
            isCompacted = true
            try replica.database.compact()
        case .limit:
            let limit = 2 + random.below(5)
            log("    \(replica.index) keeps \(limit) revisions a branch")
            isStemmed = true
            try replica.database.setRevisionLimit(limit)
        case .reopen: try replica.reopen()
        case .editForeign: try editForeign(id, on: replica, &random)
        case .setClock:
            let step = random.below(2 * Self.day) - Self.day
            log("    the clock of \(replica.index) steps by \(step) ms")
            replica.clock?.step(by: Int64(step))
        }
    }
}

extension SimulationStep.Kind {
    /// Whether the step can be rolled back in the middle.
    fileprivate var isTransaction: Bool {
        switch self {
        case .edit, .editLoser, .attach, .delete, .revive, .editAndDelete, .closeByHand, .settle, .settleAll,
            .editForeign:
            true
        case .exchange, .send, .deliver, .part, .meet, .compact, .limit, .reopen, .setClock: false
        }
    }
}

// MARK: - Users

extension SimulationRun {
    /// Runs the edits of a replica's users. Each write is recorded as acknowledged, unless it is rolled back.
    func edit(
        _ id: DocumentID, on replica: SimulatedReplica, _ random: inout SeededRandom, leaf: RevisionID? = nil
    ) throws {
        let database = replica.database
        let document = try leaf.map { try database.document(id, revision: $0) } ?? database.document(id)
        if document == nil, try !replica.tree(id).isEmpty { return }
        var edited = document ?? Document(id: id)
        Self.change(&edited, &random)
        let saved = try database.save(edited, onConflict: .fail)
        try recordStamps(saved, before: document, on: replica)
        try record(id, on: replica, ofUser: true)
    }

    func editLoser(_ id: DocumentID, on replica: SimulatedReplica, _ random: inout SeededRandom) throws {
        guard let leaf = random.pick(try replica.tree(id).conflicts) else { return }
        try edit(id, on: replica, &random, leaf: leaf)
    }

    func attach(_ id: DocumentID, on replica: SimulatedReplica, _ random: inout SeededRandom) throws {
        guard var document = try replica.database.document(id) else { return }
        let name = "x\(random.below(2))"
        if !document.attachments.isEmpty, random.oneIn(3) {
            document.detach(document.attachments[random.below(document.attachments.count)].name)
        } else {
            let content = [UInt8](repeating: UInt8(97 + random.below(3)), count: 1 + random.below(40))
            let type = random.oneIn(2) ? "text/plain" : "application/octet-stream"
            document.attach(try replica.database.makeAttachment(name, contentType: type, content: content))
        }
        try replica.database.save(document, onConflict: .fail)
        try record(id, on: replica, ofUser: true)
    }

    func delete(_ id: DocumentID, on replica: SimulatedReplica) throws {
        guard let document = try replica.database.document(id) else { return }
        try replica.database.delete(document, onConflict: .fail)
        try record(id, on: replica, ofUser: true)
    }

    func revive(_ id: DocumentID, on replica: SimulatedReplica, _ random: inout SeededRandom) throws {
        let tree = try replica.tree(id)
        guard tree.isDeleted else { return }
        var document = Document(id: id)
        Self.change(&document, &random)
        let saved = try replica.database.save(document, onConflict: .fail)
        try record(id, on: replica, ofUser: true)
        if let revision = saved.revision {
            let deletions = tree.leaves.map(\.revision).filter { ledgers[id]?.isUserDeletion($0) ?? false }
            ledgers[id]?.revivals[revision, default: []].formUnion(deletions)
        }
    }

    func editAndDelete(_ id: DocumentID, on replica: SimulatedReplica, _ random: inout SeededRandom) throws {
        guard try replica.database.document(id) != nil else { return }
        try edit(id, on: replica, &random)
        try delete(id, on: replica)
    }

    /// Settles manually as with CouchDB: optionally a new revision of the winner, and tombstones on the other
    /// leaves.
    func closeByHand(_ id: DocumentID, on replica: SimulatedReplica, _ random: inout SeededRandom) throws {
        let losers = try replica.tree(id).conflicts
        guard !losers.isEmpty else { return }
        if random.oneIn(2) { try edit(id, on: replica, &random) }
        for loser in losers {
            guard let document = try replica.database.document(id, revision: loser) else { continue }
            try replica.database.delete(document, onConflict: .fail)
            try record(id, on: replica, ofUser: true)
        }
    }

    /// Changes some members: plain ones, a counter, an array, a nested one.
    static func change(_ document: inout Document, _ random: inout SeededRandom) {
        for _ in 0...random.below(2) {
            let number = random.below(8)
            let value = JSONValue.number(JSONNumber(number))
            switch random.below(6) {
            case 0, 1: document["m\(random.below(3))"] = number == 0 ? nil : value
            case 2: document["count"] = .number(JSONNumber((document["count"]?.int ?? 0) + 1 + number % 3))
            case 3:
                var tags = document["tags"]?.array ?? []
                if number % 3 == 0, !tags.isEmpty { tags.removeFirst() } else { tags.append(.string("t\(number)")) }
                document["tags"] = .array(tags)
            case 4:
                var inner = document["inner"]?.object ?? JSONObject()
                inner["i\(random.below(2))"] = number == 0 ? nil : value
                document["inner"] = .object(inner)
            default: document["text"] = .string(String(repeating: "text ", count: number))
            }
        }
    }
}
