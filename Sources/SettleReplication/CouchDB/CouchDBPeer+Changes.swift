internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleQuery

extension CouchDBPeer {
    /// The maximum size of a row of `_changes` in bytes; enough for some ten thousand leaves.
    private static let longestRow = 16 << 20
    /// The time beyond two heartbeats after which a silent feed fails.
    private static let grace = Duration.seconds(30)

    /// The next changes; see ``Peer/changes(_:)``.
    ///
    /// For a short wait the server waits. For a longer one CouchDB sends heartbeats indefinitely, so the call ends
    /// the wait itself. If an intermediary closes a connection that was silent for too long, the call returns no
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
                // A change that has started to arrive is awaited.
                if !progress.hasRows { return ChangesPage(changes: [], last: request.since) }
            }
            throw PeerError(CancellationError(), at: name)
        }
    }

    private func page(
        _ request: ChangesRequest, heartbeat: Duration?, progress: FeedProgress
    ) async throws -> ChangesPage {
        let calls = try calls()
        var request = request
        var pace: CarriedRevisions.Pace?
        if request.wantsContents, request.wait == nil {
            pace = learnt.withLock { $0.carried.pace(of: request.limit) }
            request.limit = pace?.rows ?? request.limit
        }
        request.wantsContents = pace != nil
        let asked = ChangesParameters(request, heartbeat: heartbeat)
        let begin = now()
        do {
            let response = try await calls.stream(
                asked.body == nil ? "GET" : "POST", "_changes", query: asked.query, json: asked.body
            ) {
                $0.acceptsCompression = request.wait == nil
                $0.idleTimeout = heartbeat.map { $0 * 2 + Self.grace } ?? ((request.wait ?? .zero) + .seconds(60))
            }
            return try await read(response, request, progress, pace, delay: now() - begin)
        } catch is TooLongToCarry {
            request.wantsContents = false
            return try await page(request, heartbeat: heartbeat, progress: progress)
        } catch let error as PeerError {
            guard let heartbeat, error.mayBeCutForSilence, !progress.hasRows else { throw error }
            let silence = progress.silence(until: now())
            guard learnt.withLock({ $0.idleLimit.recordCut(after: silence, asked: heartbeat) }) else { throw error }
            return ChangesPage(changes: [], last: request.since)
        }
    }

    /// The first row of a page has a document that is too long to come with the changes.
    private struct TooLongToCarry: Error {}

    private func read(
        _ response: HTTPResponse, _ request: ChangesRequest, _ progress: FeedProgress, _ pace: CarriedRevisions.Pace?,
        delay: Duration
    ) async throws -> ChangesPage {
        var changes: [ChangedDocument] = []
        var carried = CarriedRevisions.Page()
        carried.delay = delay
        defer { if pace != nil { learnt.withLock { [carried] in $0.carried.add(carried) } } }
        var last = request.since
        let limit = max(1, request.limit)
        var elements = JSONElements(of: "results", longestElement: Self.longestRow)
        let place = try calls().place("_changes")
        do {
            for try await piece in response.body {
                progress.recordBytes(now())
                let goesOn = try elements.parse(piece) { element in
                    guard case .bytes(let text) = element else {
                        if pace == nil { throw WireFault("a row of _changes has more than \(Self.longestRow) bytes") }
                        carried.hasLong = true
                        if changes.isEmpty { throw TooLongToCarry() }
                        return false
                    }
                    progress.recordRow()
                    // A server that ignores `limit` is read only up to the limit.
                    if changes.count >= limit { return false }
                    let row = try ParsedChange(text, before: last)
                    if let sequence = row.sequence { last = sequence }
                    if let change = row.change { changes.append(change) }
                    guard let pace else { return true }
                    carried.add(row, text)
                    return carried.bytes < pace.bytes
                }
                if !goesOn { return ChangesPage(changes: changes, last: last) }
            }
            let frame = try elements.finish()
            if let told = frame["last_seq"], !told.isNull { last = PeerSequence(told) }
            return ChangesPage(changes: changes, last: last, pending: frame["pending"]?.int)
        } catch let error as TooLongToCarry { throw error } catch { throw PeerError(error, at: place) }
    }
}

extension PeerError {
    /// Whether an intermediary may have closed the connection because it was silent.
    fileprivate var mayBeCutForSilence: Bool {
        code == .connectionLost || code == .badAnswer && status == nil || [502, 504, 524].contains(status)
    }
}

// MARK: - FeedProgress

/// The progress of a feed that one task reads and another waits for.
final class FeedProgress: Sendable {
    private let state: Guarded<(lastByte: ContinuousClock.Instant, hasRows: Bool)>

    init(_ start: ContinuousClock.Instant) { state = Guarded((start, false)) }

    /// Whether a change arrived.
    var hasRows: Bool { state.withLock { $0.hasRows } }

    /// Records that a change arrived.
    func recordRow() { state.withLock { $0.hasRows = true } }

    /// Records that bytes arrived.
    func recordBytes(_ now: ContinuousClock.Instant) { state.withLock { $0.lastByte = now } }

    /// The time since bytes last arrived.
    func silence(until now: ContinuousClock.Instant) -> Duration { state.withLock { $0.lastByte.duration(to: now) } }
}

// MARK: - ChangesParameters

/// The query of a `_changes` request, and the body if the filter needs one.
struct ChangesParameters {
    private(set) var query: HTTPQuery
    private(set) var body: [UInt8]?
    /// Computing a sequence is expensive on a cluster, so only every hundredth row has one.
    private static let sequenceInterval = 100

    /// Builds the query.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - heartbeat: The interval of heartbeats if the server waits indefinitely; `nil` to wait as long as the
    ///     request says.
    init(_ request: ChangesRequest, heartbeat: Duration?) {
        query = ["style": "all_docs", "since": request.since.description, "limit": "\(max(1, request.limit))"]
        if request.limit > Self.sequenceInterval { query["seq_interval"] = "\(Self.sequenceInterval)" }
        if let heartbeat {
            query["feed"] = "longpoll"
            query["heartbeat"] = "\(heartbeat.milliseconds)"
        } else if let wait = request.wait {
            query["feed"] = "longpoll"
            query["timeout"] = "\(wait.milliseconds)"
        } else {
            query["feed"] = "normal"
        }
        if request.wantsContents { query["include_docs"] = "true" }
        apply(request.filter)
        // A filter may skip many rows before the first one that passes.
        if heartbeat == nil, request.wait == nil, query["filter"] != nil {
            query["heartbeat"] = "\(request.heartbeat.milliseconds)"
        }
    }

    private mutating func apply(_ filter: ReplicationFilter) {
        switch filter {
        case .all: break
        case .documents(let ids):
            query["filter"] = "_doc_ids"
            body = JSONValue.object(["doc_ids": .array(ids.map { .string($0.string) })]).utf8
        case .selector(let selector):
            query["filter"] = "_selector"
            body = JSONValue.object(["selector": selector.json]).utf8
        case .named(let name, let parameters):
            query["filter"] = name
            // As in CouchDB, a filter parameter can't override a parameter that the replication sets.
            for (name, value) in parameters.sorted(by: { $0.key < $1.key }) where query[name] == nil {
                query[name] = value.string ?? value.description
            }
        case .channels(let channels):
            query["filter"] = "sync_gateway/bychannel"
            query["channels"] = channels.joined(separator: ",")
        }
    }
}

// MARK: - ParsedChange

/// A row of `_changes`: `{"seq": …, "id": "a", "changes": [{"rev": "2-b"}], "deleted": true}`.
struct ParsedChange {
    /// The document; `nil` for rows that are not about a document, like Sync Gateway's rows about users.
    let change: ChangedDocument?
    /// The row's sequence; `nil` if the peer omitted it.
    let sequence: PeerSequence?
    /// The place of the winner's content, if it came along.
    let document: Range<Int>?

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - text: Its JSON.
    ///   - before: The previous row's sequence, used if this row has none: starting there is always safe.
    /// - Throws: ``WireFault``, or `JSONError`.
    init(_ text: UnsafeBufferPointer<UInt8>, before: PeerSequence) throws {
        let outline = try JSONOutline(text, elementsOf: "changes")
        guard let idRange = outline["id"], let id = text.string(in: idRange), let changes = outline.elements else {
            throw WireFault("a row of _changes has no id or no changes")
        }
        let told = try outline["seq"].map { try text.json(in: $0) } ?? .null
        let sequence = told.isNull ? nil : PeerSequence(told)
        self.sequence = sequence
        document = outline["doc"]
        guard !changes.isEmpty, let id = try? DocumentID(validating: id) else {
            change = nil
            return
        }
        let leaves = try changes.map { range in
            guard let revision = Self.revision(text, range) else {
                throw WireFault("a row of _changes names an invalid revision, of the document \"\(id)\"")
            }
            return revision
        }
        let isDeleted = try outline["deleted"].map { try text.json(in: $0) == true } ?? false
        var change = ChangedDocument(sequence: sequence ?? before, id: id, leaves: leaves, isDeleted: isDeleted)
        // Sync Gateway: the document left all channels, and its revision is listed without its content.
        change.mayHaveLeft = outline["removed"] != nil
        self.change = change
    }

    /// The revision of `{"rev": "2-b"}`.
    private static func revision(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> RevisionID? {
        let plain: StaticString = "{\"rev\":\""
        let bytes = UnsafeBufferPointer(rebasing: text[range])
        let prefix = UnsafeBufferPointer(start: plain.utf8Start, count: plain.utf8CodeUnitCount)
        if bytes.starts(with: prefix),
            bytes.dropFirst(prefix.count).firstIndex(of: UInt8(ascii: "\"")) == bytes.count - 2
        {
            let name = String(decoding: bytes[prefix.count..<bytes.count - 2], as: UTF8.self)
            if !name.utf8.contains(UInt8(ascii: "\\")) { return RevisionID(name) }
        }
        return (try? JSONValue(utf8: bytes))?["rev"]?.string.flatMap { RevisionID($0) }
    }
}
