internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

extension OfflineSession {
    /// Starts automatic work: while online, the session sends each change, and fetches the changes of other
    /// clients. It goes offline when the server can't be reached or the database is suspended, and online when both
    /// work again. After ``goOffline()`` it stays offline until ``goOnline()``. When the database is closed, the work
    /// ends; a session that waited for changes is then in ``OfflineState/syncFailed``, with an error.
    public func start() {
        keepWatch {
            Task { [weak self] in
                while !Task.isCancelled {
                    guard let self, !self.database.isClosed else { return }
                    await self.watch()
                }
            }
        }
    }

    /// Stops automatic work, and waits for a running call.
    public func stop() async {
        bell.ring()
        await endWatch()
    }

    /// Reports that the network changed: an unreachable server is retried immediately.
    public func networkChanged() { bell.ring() }

    /// Performs at most one action that is due, or waits.
    private func watch() async {
        let seen = bell.position
        switch status.state {
        case .synchronizing, .syncFailed: await waitForRingOrClose(after: seen)
        case .offline where wantsOffline: await waitForRingOrClose(after: seen)
        case .offline:
            failures.withLock { $0 += 1 }
            let delay = options.retry.delay(
                after: failures.withLock { $0 }, jitter: .random(in: 0...1), retryAfter: status.error?.retryAfter)
            await waitForRingOrClose(after: seen, until: .now + delay)
            if Task.isCancelled || database.isClosed { return }
            do {
                _ = try await server.time()
                try await handle(.reachable)
            } catch let error as DatabaseError {
                // A suspended or busy database is tried again.
                guard !error.isPassing else { return }
                database.log(.error, .replication, "an offline session could not go on: \(error)", database.logMetadata)
            } catch let error as PeerError where !error.isTransient {
                // The server can be reached; the synchronization shows what it refuses.
                _ = try? await handle(.reachable)
            } catch { return }
        case .online:
            if let event = await nextEvent(seen) { _ = try? await handle(event) }
        }
    }

    /// Waits until the bell has rung beyond a position, the deadline has passed, or the database is closed.
    private func waitForRingOrClose(after seen: Int64, until deadline: ContinuousClock.Instant? = nil) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [bell] in _ = await bell.wait(after: seen, until: deadline) }
            group.addTask { [database] in await database.waitForClose() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits until the journal has an operation, the server has changes, the server can't be reached, or the database
    /// is closed.
    private func nextEvent(_ seen: Int64) async -> OfflineMachine.Event? {
        guard journal.isEmpty else { return .changed }
        let since = records.since
        return await withTaskGroup(of: OfflineMachine.Event?.self) { group in
            defer { group.cancelAll() }
            group.addTask { [journal, database] in
                if await journal.waitForOperation() { return .changed }
                guard database.isClosed else { return nil }
                let closed = DatabaseError(.closed, "the database was closed")
                return .failed(PeerError(closed, of: "the local database"))
            }
            group.addTask { [server, failures] in
                do {
                    let request = ChangesRequest(since: since, limit: 1, wait: .seconds(60))
                    let page = try await server.peer.changes(request)
                    failures.withLock { $0 = 0 }
                    return page.changes.isEmpty ? nil : .serverChanged
                } catch {
                    guard let error = error as? PeerError, !Task.isCancelled else { return nil }
                    // A permanent error would repeat, so the session must not retry immediately.
                    return error.isTransient ? .unreachable(error) : .failed(error)
                }
            }
            group.addTask { [bell] in
                await bell.wait(after: seen)
                return nil
            }
            return await group.next() ?? nil
        }
    }
}
