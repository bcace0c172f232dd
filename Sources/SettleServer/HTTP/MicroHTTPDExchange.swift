internal import CMicroHTTPD
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// One request on a libmicrohttpd connection, and its response.
///
/// The library's thread calls ``receive(_:)`` and ``answerIfReady()``. If they can't proceed, they suspend the
/// connection. The thread that makes the response, stores a part of the body, or has bytes of a stream resumes it.
/// Suspending and resuming happen under the lock of `state`, and never after the request is completed.
final class MicroHTTPDExchange: Sendable {
    private struct State {
        var connection: Lent<OpaquePointer>?
        var isSuspended = false
        var method = ""
        var headers = HTTPHeaders()
        var hasHeader = false
        var body = ArrivingBody()
        /// Where the request comes from: the other end of the connection, or the client whom a trusted proxy names.
        var client: String
        /// The client's route to the server.
        var route = ClientRoute()
        var isHandedOn = false
        var response: HTTPResponse?
        var isQueued = false
        var pump: StreamPump?
        /// Whether the listener stops, so that a stream ends at its next wait.
        var isEnding = false
        /// Whether the stream began after the listener began to stop, and must still be ended.
        var isPumpLate = false
        var isForcedToEnd = false
        /// Whether the gate counts this request.
        var isInside = false
        /// The socket after an upgrade from HTTP.
        var upgraded: Int32?
        /// The number of bytes of the response's body that the library has taken.
        var sent: Int64 = 0
    }

    let target: RequestTarget
    private let peer: String
    private let start = ContinuousClock.now
    private let life = RequestLife()
    private let options: ListenerOptions
    private let pools: WorkerPools
    private let handler: HTTPHandler
    private let gate: RequestGate
    private let state: Guarded<State>

    init(
        _ connection: OpaquePointer, peer: String, target: RequestTarget, options: ListenerOptions,
        pools: WorkerPools, handler: HTTPHandler, gate: RequestGate
    ) {
        self.peer = peer
        self.target = target
        self.options = options
        self.pools = pools
        self.handler = handler
        self.gate = gate
        state = Guarded(State(connection: Lent(connection), client: peer))
    }

    /// Reads the header at the first call for a request.
    ///
    /// - Returns: `nil` at further calls; otherwise whether the connection may stay open.
    func begin(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>?) -> Bool? {
        let connection = state.withLock { state -> Lent<OpaquePointer>? in
            guard !state.hasHeader else { return nil }
            state.hasHeader = true
            state.method = String(cString: method)
            return state.connection
        }
        guard let connection else { return nil }
        let headers = Self.headers(of: connection.value)
        if let problem = Self.problem(in: headers, method, version, of: connection.value) {
            return state.withLock { refuse(.malformed(problem), on: connection, &$0) }
        }
        let length = headers["Content-Length"].flatMap { Int64($0) }
        let limit = options.bodyLimit()
        let isInside = gate.enter()
        return state.withLock { state in
            state.headers = headers
            state.client = options.trustedProxies.client(of: peer, headers)
            state.route = ClientRoute(
                headers, isTLS: options.certificate != nil, isTrusted: options.trustedProxies.areTrusted(peer))
            state.body.begin(length, limit: limit)
            state.isInside = isInside
            guard isInside else {
                let response = handler.refuse(makeRequest(BufferedBody(), state))
                // If the connection were cut before a short body has come, the client could lose the answer.
                guard headers["Expect"] == nil, state.body.isDeclaredShort else {
                    return refuse(response, on: connection, &state)
                }
                state.response = response
                return true
            }
            return state.body.isTooLarge ? refuse(.tooLarge(state.body), on: connection, &state) : true
        }
    }

    /// How far the request has arrived.
    var progress: ConnectionWatch.Progress {
        state.withLock { state in
            if !state.hasHeader { return .header }
            // Also when the response is known: the rest of the body is read and dropped before it is sent.
            let isWanted = state.connection != nil && !state.isQueued && !state.isSuspended
            return isWanted ? .body(state.body.received) : .answering
        }
    }

    /// Whether a streamed response waits for more bytes of its stream.
    var isWaitingToSend: Bool { state.withLock { $0.pump != nil && $0.isSuspended } }

    /// Whether the response is being made, and none of it was sent.
    var isBeingAnswered: Bool { state.withLock { $0.isHandedOn && $0.response == nil && $0.isSuspended } }

    /// Records that the client has disconnected while the response is being made, which may end that work.
    func abandon() { life.abandon() }

    /// Takes a piece of the body.
    ///
    /// - Returns: False if the piece has to be passed again later; `nil` if the connection must be closed.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
        state.withLock { state in
            if state.isForcedToEnd { return true }
            if state.body.isSpooling {
                suspend(&state)
                return false
            }
            state.body.count(bytes)
            if state.response == nil, state.body.isTooLarge { state.response = .tooLarge(state.body) }
            guard state.response == nil else {
                // The rest is read and dropped, but not for ever.
                state.body.drop()
                return state.body.isDroppedForGood ? nil : true
            }
            state.body.append(bytes)
            if state.body.isFull { spool(&state) }
            return true
        }
    }

    /// Has a part of a long body written to a file by a thread that waits only for the disk. Before the first part,
    /// the handler decides whether to read the body.
    private func spool(_ state: inout State) {
        let request = makeRequest(BufferedBody(), state)
        let (part, upload) = state.body.beginSpooling()
        suspend(&state)
        pools.uploads.submit(for: state.client) { [self] in
            guard upload == nil else { return store(part, in: upload, limit: nil) }
            handler.admit(request) { [self] admission in
                switch admission {
                case .refused(let response): finishSpooling(.failure(Refusal(response: response)))
                case .admitted(let most):
                    pools.uploads.submit(for: request.peer) { [self] in store(part, in: nil, limit: most) }
                }
            }
        }
    }

    private func store(_ part: [UInt8], in upload: UploadFile?, limit: Int64?) {
        finishSpooling(
            Result {
                let file = try upload ?? UploadFile(in: options.uploadFolder)
                try file.append(part)
                return (file, limit)
            })
    }

    private func finishSpooling(_ outcome: Result<(UploadFile, Int64?), any Error>) {
        state.withLock { finishSpooling(outcome, &$0) }
        resume()
    }

    private struct Refusal: Error { let response: HTTPResponse }

    private func finishSpooling(_ outcome: Result<(UploadFile, Int64?), any Error>, _ state: inout State) {
        switch outcome {
        case .success(let (file, limit)):
            state.body.finishSpooling(file, limit: limit)
            if state.body.isTooLarge { state.response = .tooLarge(state.body) }
        case .failure(let error):
            state.body.finishSpooling(nil, limit: nil)
            if !(error is Refusal) { options.warn?("an upload can't be taken: \(error)") }
            state.response = (error as? Refusal)?.response ?? .error(HTTPError(error))
        }
        if state.response != nil { state.body.drop() }
    }

    /// Marks the body as complete. Queues the response if there is one; otherwise suspends the connection until
    /// then.
    ///
    /// - Returns: Whether the connection may stay open.
    func answerIfReady() -> Bool {
        handOn()
        return state.withLock { state in
            if state.isForcedToEnd { return false }
            if let response = state.response {
                guard !state.isQueued, let connection = state.connection else { return !state.isQueued }
                state.isQueued = true
                return queue(response, on: connection, &state)
            }
            suspend(&state)
            return true
        }
    }

    /// Copies bytes of a streamed response, or suspends the connection until there are some.
    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> StreamPump.Supply {
        let (known, isLate) = state.withLock { state in
            defer { state.isPumpLate = false }
            return (state.pump, state.isPumpLate)
        }
        guard let pump = known else { return .failure }
        if isLate { pump.stop(isForced: false) }
        let supply = pump.supply(buffer) { state.withLock { if !$0.isForcedToEnd { suspend(&$0) } } }
        if case .copied(let count) = supply { state.withLock { $0.sent += Int64(count) } }
        return supply
    }

    /// Passes on the socket of an upgraded connection.
    func upgrade(_ descriptor: Int32, _ first: [UInt8], _ handle: OpaquePointer) {
        let handle = Lent(handle)
        let (response, client) = state.withLock { state in
            state.upgraded = descriptor
            return (state.response, state.client)
        }
        let socket = UpgradedSocket(descriptor: descriptor, first: first, peer: client) { [self] in
            state.withLock { $0.upgraded = nil }
            settle_mhd_close_upgraded(handle.value)
        }
        guard case .upgrade(let take) = response?.body.content else { return socket.giveBack() }
        take(socket)
        if state.withLock({ $0.isEnding }) { stop(isForced: false) }
    }

    /// Marks the request as over, whatever its outcome.
    ///
    /// - Parameter isCut: Whether the connection ended before the response did.
    func complete(isCut: Bool) {
        life.abandon()
        let (pump, record, wasInside) = state.withLock { state in
            state.connection = nil
            state.isSuspended = false
            state.body.drop()
            defer { state.isInside = false }
            return (state.pump, makeRecord(state, isCut: isCut), state.isInside)
        }
        pump?.close()
        if wasInside { gate.leave() }
        if let record { options.observer?(record) }
    }

    /// Ends a waiting stream; with `isForced` the request is cut off in any state.
    func stop(isForced: Bool) {
        if isForced { life.abandon() }
        state.withLock { state in
            state.isEnding = true
            if isForced { state.isForcedToEnd = true }
            // The socket's owner reads the end, and then gives the socket back, which needs this lock. So the
            // number can't belong to another socket yet.
            if let upgraded = state.upgraded { shutdown(upgraded, Int32(SHUT_RDWR)) }
        }
        state.withLock({ $0.pump })?.stop(isForced: isForced)
        if isForced { resume() }
    }

    /// Has a complete request answered once: on the library's thread if that needs no waiting, otherwise by a
    /// worker.
    private func handOn() {
        let request = state.withLock { state -> ServerRequest? in
            guard !state.isHandedOn, !state.body.isSpooling, state.response == nil, !state.isForcedToEnd else {
                return nil
            }
            state.isHandedOn = true
            return makeRequest(state.body.finish(), state)
        }
        guard let request else { return }
        switch handler.plan(request) {
        case .answered(let response): answer(response)
        case .work(let work):
            pools.workers(for: target).submit(for: request.peer) { [self] in answer(work()) }
        }
    }

    private func makeRequest(_ body: any RequestBody, _ state: State) -> ServerRequest {
        ServerRequest(
            method: state.method, target: target, headers: state.headers, body: body, peer: state.client,
            route: state.route, life: life)
    }

    private func answer(_ response: HTTPResponse) {
        if case .later(let deferred) = response.body.content {
            // Weakly, so that the promise doesn't keep the exchange of a closed connection.
            return deferred.whenFulfilled { [weak self] in self?.answer($0) }
        }
        let (method, client) = state.withLock { ($0.method, $0.client) }
        guard method == "HEAD", case .stream(_, nil) = response.body.content else { return give(response) }
        // Measuring the length takes longer than some threads may.
        pools.workers.submit(for: client) { [self] in give(HeadLength.measured(response)) }
    }

    private func give(_ response: HTTPResponse) {
        let isGone = state.withLock { state in
            state.response = response
            return state.connection == nil
        }
        guard isGone else { return resume() }
        if case .stream(let stream, _) = response.body.content { stream.end() }
    }

    private func suspend(_ state: inout State) {
        guard let connection = state.connection, !state.isSuspended else { return }
        state.isSuspended = true
        MHD_suspend_connection(connection.value)
    }

    private func resume() {
        state.withLock { state in
            guard let connection = state.connection, state.isSuspended else { return }
            state.isSuspended = false
            MHD_resume_connection(connection.value)
        }
    }
}

extension MicroHTTPDExchange {
    /// The outcome of the request; `nil` if there is no observer for it.
    private func makeRecord(_ state: State, isCut: Bool) -> RequestRecord? {
        guard options.observer != nil else { return nil }
        let response = state.isQueued ? state.response : nil
        let duration = ContinuousClock.now - start
        guard options.observesAll || RequestRecord.isNotable(target, status: response?.status, duration, isCut: isCut)
        else { return nil }
        return RequestRecord(
            target: target, method: state.method, peer: state.client, id: response?.headers["X-Couch-Request-ID"],
            user: response?.user, status: response?.status, bytes: state.sent, duration: duration, isCut: isCut)
    }

    /// Responds before the body has arrived; the library then closes the connection.
    private func refuse(_ response: HTTPResponse, on connection: Lent<OpaquePointer>, _ state: inout State) -> Bool {
        (state.response, state.isQueued) = (response, true)
        return queue(response, on: connection, &state)
    }

    private static func problem(
        in headers: HTTPHeaders, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>?,
        of connection: OpaquePointer
    ) -> String? {
        guard let version, settle_mhd_has_plain_lines(connection, method, version) != 0 else {
            return "each line of the header has to end with CR LF, and must not continue in the next"
        }
        return RequestFraming.problem(in: headers, version: String(cString: version))
    }

    /// Gives an answer to the library.
    private func queue(_ given: HTTPResponse, on connection: Lent<OpaquePointer>, _ state: inout State) -> Bool {
        var response = given
        if !response.canBeSent {
            // One below 200 has no end: the client waits for what follows it.
            options.warn?("an answer has the status \(given.status), which can't be sent: \(target.rawPath)")
            response = .withoutStatus
            if case .stream(let stream, _) = given.body.content { stream.end() }
            state.response = response
        }
        if gate.isLeaving, !response.isUpgrade { response.headers["Connection"] = "close" }
        let isHead = state.method == "HEAD"
        switch response.body.content {
        case .bytes(let bytes) where !isHead: state.sent = Int64(bytes.count)
        case .stream(let stream, _) where !isHead:
            state.pump = StreamPump(
                stream, pool: pools.workers(for: target), wakePool: pools.feeds, owner: state.client
            ) { [weak self] in self?.resume() }
            state.isPumpLate = state.isEnding
        default: break
        }
        return MicroHTTPDAnswer(response: response, isHead: isHead, exchange: self).queue(on: connection.value)
    }

    private static func headers(of connection: OpaquePointer) -> HTTPHeaders {
        var headers = HTTPHeaders()
        withUnsafeMutablePointer(to: &headers) { pointer in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { context, _, name, value in
                    guard let context, let name else { return .YES }
                    context.assumingMemoryBound(to: HTTPHeaders.self).pointee
                        .add(String(cString: name), value.map { String(cString: $0) } ?? "")
                    return .YES
                }, pointer)
        }
        return headers
    }
}
