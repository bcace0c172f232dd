internal import SettleCore

/// The loop of automatic settling: a sweep over all conflicts, then every change as it arrives.
///
///     changes ──▶ slots, a bounded number of documents ──▶ policy ──▶ settled
///                                                              └─ waits for a person, while others continue
struct SettlingWorker: Sendable {
    let database: Database
    let policy: ConflictPolicy
    let slots: SettlingSlots
    let continuation: AsyncStream<AutomaticSettling.Event>.Continuation
    let progress: SettlingProgress

    func run(sweepEvery interval: Duration?) async {
        defer {
            progress.finish()
            continuation.finish()
        }
        do {
            let start = try await database.perform { try $0.lastSequence() }
            try await sweep()
            progress.reach(start)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await follow(from: start) }
                if let interval {
                    group.addTask {
                        while true {
                            try await Task.sleep(for: interval)
                            try await sweep()
                        }
                    }
                }
                // Both end only if the database is closed, fails, or the task is cancelled.
                _ = try await group.next()
                group.cancelAll()
            }
        } catch let error as DatabaseError where error.code != .closed {
            continuation.yield(.ended(error))
            database.log(.error, .conflicts, "conflicts are not settled any more: \(error)", database.logMetadata)
        } catch {}
    }

    private func follow(from start: UpdateSequence) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var seen = start
            while !Task.isCancelled {
                let after = seen
                let (page, newest) = try await database.perform { database in
                    try database.snapshot {
                        (
                            try database.changes(since: after, limit: 100, style: .allLeaves),
                            try database.lastSequence()
                        )
                    }
                }
                for change in page where change.leaves.count > 1 && !change.isDeleted {
                    await slots.take()
                    let question = progress.begin(change.sequence)
                    group.addTask {
                        defer {
                            progress.end(question)
                            slots.giveBack()
                        }
                        try await settle(change.id)
                    }
                }
                seen = page.last?.sequence ?? max(newest, seen)
                progress.reach(seen)
                if page.isEmpty, await !database.notifier.wait(after: seen) { return }
            }
        }
    }

    private func sweep() async throws {
        for kind in policy.kindsInOrder {
            var last: DocumentID?
            while true {
                let after = last
                let page = try await database.perform { try $0.conflictedDocumentIDs(kind, after: after, limit: 100) }
                guard let newest = page.last else { break }
                try await withThrowingDiscardingTaskGroup { group in
                    for id in page {
                        await slots.take()
                        group.addTask {
                            defer { slots.giveBack() }
                            try await settle(id)
                        }
                    }
                }
                last = newest
            }
        }
    }

    private func settle(_ id: DocumentID) async throws {
        try Task.checkCancellation()
        do {
            let settlement = try await database.settle(id, asking: policy)
            if settlement.outcome != .nothing { continuation.yield(.settled(settlement)) }
        } catch let error as DatabaseError where error.code.isOfOneDocument {
            if error.code != .notFound { continuation.yield(.failed(id, error)) }
        }
    }
}
