internal import RevisionTree
internal import SettleDatabase
internal import SettlePlatform

extension OfflineSession {
    /// Works by itself from now on: sends each change while it is online, notices what others change, goes offline when the
    /// server is not reached and online when it is again. Being offline by request lasts until ``goOnline()``.
    public func start() {
        keepWatch {
            Task { [weak self] in
                while !Task.isCancelled {
                    guard let self else { return }
                    await self.watch()
                }
            }
        }
    }

    /// Ends working by itself; a call that is on its way is waited for.
    public func stop() async {
        alarm.ring()
        await endWatch()
    }

    /// Says that the network changed: a server that was not reached is asked at once.
    public func networkChanged() { alarm.ring() }

    /// One look at what there is to do, and at the most one thing done.
    private func watch() async {
        let seen = alarm.count
        switch status.state {
        case .synchronizing, .syncFailed: await alarm.wait(for: nil, after: seen)
        case .offline where wantsOffline: await alarm.wait(for: nil, after: seen)
        case .offline:
            failures.withLock { $0 += 1 }
            let delay = options.retry.delay(
                after: failures.withLock { $0 }, jitter: .random(in: 0...1), retryAfter: status.error?.retryAfter)
            await alarm.wait(for: delay, after: seen)
            if Task.isCancelled { return }
            do {
                _ = try await server.time()
                try await handle(.reachable)
            } catch let error as DatabaseError {
                database.warn("an offline session could not go on: \(error)")
            } catch let error as PeerError where !error.isTransient {
                // It is reached, and what it refuses is for somebody to see.
                _ = try? await handle(.reachable)
            } catch { return }
        case .online:
            failures.withLock { $0 = 0 }
            if let event = await nextEvent(seen) { _ = try? await handle(event) }
        }
    }

    /// Waits until something is in the journal, the server has something new, or it is lost.
    private func nextEvent(_ seen: Int) async -> OfflineMachine.Event? {
        guard journal.isEmpty else { return .changed }
        let since = records.since
        return await withTaskGroup(of: OfflineMachine.Event?.self) { group in
            defer { group.cancelAll() }
            group.addTask { [journal] in
                for await _ in journal.observePending() where !journal.isEmpty { return .changed }
                return nil
            }
            group.addTask { [server] in
                do {
                    let request = ChangesRequest(since: since, limit: 1, wait: .seconds(60))
                    let page = try await server.peer.changes(request)
                    return page.changes.isEmpty ? nil : .serverChanged
                } catch {
                    guard let error = error as? PeerError, !Task.isCancelled else { return nil }
                    // What is refused now is refused again, so asking at once would go round in circles.
                    return error.isTransient ? .unreachable(error) : .failed(error)
                }
            }
            group.addTask { [alarm] in
                await alarm.wait(for: nil, after: seen)
                return nil
            }
            return await group.next() ?? nil
        }
    }
}
