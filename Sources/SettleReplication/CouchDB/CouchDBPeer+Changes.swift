internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

extension CouchDBPeer {
    /// How many bytes a row of `_changes` may have; enough for some ten thousand leaves.
    private static let longestRow = 16 << 20
    /// How much longer than two heartbeats a feed may be silent before it fails.
    private static let grace = Duration.seconds(30)

    /// The next changes; see ``Peer/changes(_:)``.
    ///
    /// The server does the waiting if it is short. For longer waits CouchDB sends heartbeats indefinitely, so the call
    /// ends the wait itself. If an intermediary cuts a connection that was silent for too long, the call returns no
    /// changes, and the next call asks for more frequent heartbeats.
    package func changes(_ request: ChangesRequest) async throws -> ChangesPage {
        let heartbeat = learnt.withLock { $0.idleLimit.heartbeat(request.heartbeat) }
        guard let wait = request.wait, wait > heartbeat else {
            return try await page(request, heartbeat: nil, progress: FeedProgress(now()))
        }
        let progress = FeedProgress(now())
        return try await withThrowingTaskGroup(of: ChangesPage?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await self.page(request, heartbeat: heartbeat, progress: progress) }
            group.addTask {
                do { try await Task.sleep(for: wait) } catch { throw PeerError(error, at: self.name) }
                return nil
            }
            while let ended = try await group.next() {
                if let ended { return ended }
                // A change that has begun to arrive is awaited.
                if !progress.hasRows { return ChangesPage(changes: [], last: request.since) }
            }
            throw PeerError(CancellationError(), at: name)
        }
    }

    private func page(
        _ request: ChangesRequest, heartbeat: Duration?, progress: FeedProgress
    ) async throws -> ChangesPage {
        let calls = try calls()
        let asked = ChangesParameters(request, heartbeat: heartbeat)
        do {
            let response = try await calls.stream(
                asked.body == nil ? "GET" : "POST", "_changes", query: asked.query, json: asked.body
            ) {
                $0.acceptsCompression = request.wait == nil
                $0.idleTimeout = heartbeat.map { $0 * 2 + Self.grace } ?? ((request.wait ?? .zero) + .seconds(60))
            }
            return try await read(response, request, progress)
        } catch let error as PeerError {
            guard let heartbeat, error.mayBeCutForSilence, !progress.hasRows else { throw error }
            let silence = progress.silence(until: now())
            guard learnt.withLock({ $0.idleLimit.noteCut(after: silence, asked: heartbeat) }) else { throw error }
            return ChangesPage(changes: [], last: request.since)
        }
    }

    private func read(
        _ response: TransportResponse, _ request: ChangesRequest, _ progress: FeedProgress
    ) async throws -> ChangesPage {
        var changes: [ChangedDocument] = []
        var last = request.since
        let limit = max(1, request.limit)
        var elements = JSONElements(of: "results", longestElement: Self.longestRow)
        let place = try calls().place("_changes")
        do {
            for try await piece in response.body {
                progress.noteBytes(now())
                let goesOn = try elements.take(piece) { element in
                    guard case .bytes(let text) = element else {
                        throw WireFault("a row of _changes has more than \(Self.longestRow) bytes")
                    }
                    progress.noteRow()
                    // A server that ignores `limit` is read only up to the limit.
                    if changes.count >= limit { return false }
                    let row = try ParsedChange(text, before: last)
                    if let sequence = row.sequence { last = sequence }
                    if let change = row.change { changes.append(change) }
                    return true
                }
                if !goesOn { return ChangesPage(changes: changes, last: last) }
            }
            let frame = try elements.finish()
            if let told = frame["last_seq"], !told.isNull { last = PeerSequence(told) }
            return ChangesPage(changes: changes, last: last, pending: frame["pending"]?.int)
        } catch { throw PeerError(error, at: place) }
    }
}

extension PeerError {
    /// Whether the cause may be an intermediary that cuts silent connections.
    fileprivate var mayBeCutForSilence: Bool {
        code == .connectionLost || code == .badAnswer && status == nil || [502, 504, 524].contains(status)
    }
}
