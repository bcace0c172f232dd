internal import SettlePlatform

/// One end of a BLIP connection over a WebSocket, without a socket: received bytes go in, and bytes to send come
/// out.
///
///     socket ─→ receive ─→ frames ─→ messages ─→ handler         requests of the other end
///                                        └─────→ taker           answers to requests from here
///     socket ←─ nextOutput ←─ frames ←─ messages ←─ send, respond
///
/// Frames are made only when the socket has room, so the memory is bounded by the size of the waiting messages.
package final class BLIPConnection: Sendable {
    /// Receives the answer to a request, once.
    package typealias Taker = @Sendable (Result<BLIPMessage, BLIPError>) -> Void
    /// Receives a request of the other end. The answer is passed to ``respond(to:with:)``, at once or later.
    package typealias Handler = @Sendable (BLIPMessage) -> Void

    /// The input that is not a complete message yet.
    private struct Input {
        var socket: WebSocketDecoder
        let decoder: BLIPDecoder
    }

    private struct State {
        var queue = BLIPQueue()
        var awaited: [UInt64: Taker] = [:]
        /// A pong or ping, and the closing frame, which are sent before other frames. Of several pings only the
        /// last one is answered, so that a client can't fill the memory with pings (RFC 6455, section 5.5.3).
        var sign: [UInt8]?
        var goodbye: [UInt8]?
        /// The number of the other end's requests without an answer.
        var unanswered = 0
        var isClosing = false
        var isClosed = false
    }

    private let output: WebSocketEncoder
    private let limits: BLIPLimits
    /// Two locks, so that compression in one direction blocks neither the other direction nor senders; `state` may
    /// be locked while one of these is held.
    private let input: Guarded<Input>
    private let encoder = Guarded(BLIPEncoder())
    private let state = Guarded(State())
    private let handler: Handler
    private let wake: @Sendable () -> Void
    private let ended: @Sendable () -> Void

    /// - Parameters:
    ///   - isServer: Whether this end is the server's.
    ///   - limits: The limits of the connection.
    ///   - handler: Called with each request, on the thread that calls ``receive(_:)``.
    ///   - wake: Called when there is output after there was none; must not block.
    ///   - ended: Called by ``end()``, when the socket has closed.
    package init(
        isServer: Bool, limits: BLIPLimits, handler: @escaping Handler, wake: @escaping @Sendable () -> Void = {},
        ended: @escaping @Sendable () -> Void = {}
    ) {
        self.limits = limits
        (self.wake, self.ended) = (wake, ended)
        self.handler = handler
        output = WebSocketEncoder(isClient: !isServer)
        // A frame of BLIP is one message of the WebSocket. Compressing it does not always make it shorter.
        input = Guarded(
            Input(
                socket: WebSocketDecoder(isServer: isServer, limit: limits.largestMessage + 64),
                decoder: BLIPDecoder(limits)))
    }

    /// Receives bytes from the socket; called by one thread at a time.
    ///
    /// - Throws: ``WebSocketError`` or ``BLIPError`` if the other end violates the protocol or exceeds a limit;
    ///   call ``close(for:)`` then.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws {
        // After a closing frame nothing more is read.
        if !isClosing { input.withLock { $0.socket.append(bytes) } }
        while !isClosing {
            let result = try input.withLock { input -> BLIPDecoder.Result? in
                guard let event = try input.socket.next() else { return nil }
                return try read(event, input.decoder)
            }
            guard let result else { break }
            let taker = try state.withLock { try handle(result, &$0) }
            guard let message = result.message else { continue }
            if message.isTooLong {
                refuse(message, taker)
            } else if let taker {
                taker(message.failure.map { .failure($0) } ?? .success(message))
            } else {
                handler(message)
            }
        }
        wake()
    }

    /// Refuses a request that was too long; if the message is an answer, makes the waiting request fail.
    private func refuse(_ message: BLIPMessage, _ taker: Taker?) {
        let isRequest = message.kind == .request
        let document = message.properties["id"].map { "the document \"\($0)\"" }
        let name = document ?? (isRequest ? "the message" : "the answer")
        let limit = isRequest ? limits.largestRequest ?? limits.largestMessage : limits.largestMessage
        let error = BLIPError.http(413, "\(name) has more than \(limit) bytes, the most that is taken")
        taker?(.failure(error))
        if isRequest { respond(to: message, with: .failure(error)) }
    }

    /// Handles an event of the WebSocket. Events other than messages have no further effect.
    private func read(_ event: WebSocketEvent, _ decoder: BLIPDecoder) throws -> BLIPDecoder.Result {
        switch event {
        case .message(let frame):
            return try decoder.read(frame) { number in state.withLock { $0.awaited[number] != nil } }
        case .ping(let payload): state.withLock { $0.sign = output.pong(payload) }
        case .pong: break
        case .close(let status):
            state.withLock { state in
                state.goodbye = output.close(status)
                state.isClosing = true
            }
        }
        return BLIPDecoder.Result()
    }

    /// Handles a frame; returns the taker of the answer that the frame completes.
    private func handle(_ result: BLIPDecoder.Result, _ state: inout State) throws(BLIPError) -> Taker? {
        for due in result.due { state.queue.acknowledge(due.key, bytes: due.bytes) }
        if let received = result.received { state.queue.received(received.key, bytes: received.bytes) }
        guard let message = result.message else { return nil }
        guard message.kind == .request else { return state.awaited.removeValue(forKey: message.number) }
        guard !message.isSilent else { return nil }
        state.unanswered += 1
        guard state.unanswered <= limits.maximumUnanswered else {
            throw .http(503, "more than \(limits.maximumUnanswered) requests wait for an answer")
        }
        return nil
    }

    /// Sends a request. Its answer is passed to `taker`, on the receiving thread. A silent request has no answer.
    /// If the connection is closed, the answer is ``BLIPError/closed`` at once.
    package func send(_ request: BLIPMessage, _ taker: @escaping Taker = { _ in }) {
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            let number = state.queue.add(request)
            if !request.isSilent { state.awaited[number] = taker }
            return true
        }
        if isOpen { wake() } else { taker(.failure(.closed)) }
    }

    /// Answers a request; a silent one gets no answer.
    package func respond(to request: BLIPMessage, with answer: BLIPMessage) {
        guard !request.isSilent else { return }
        var answer = answer
        answer.number = request.number
        answer.isUrgent = request.isUrgent
        if answer.kind == .request { answer.kind = .reply }
        state.withLock { state in
            guard !state.isClosed else { return }
            state.unanswered -= 1
            state.queue.add(answer)
        }
        wake()
    }

    /// The next bytes for the socket; `nil` if there is nothing to send.
    package func nextOutput() throws -> [UInt8]? {
        try encoder.withLock { encoder in
            let (bytes, next) = state.withLock { state -> ([UInt8]?, BLIPQueue.Next?) in
                if let sign = state.sign.take() { return (sign, nil) }
                return state.isClosing ? (state.goodbye.take(), nil) : (nil, state.queue.next())
            }
            switch next {
            case nil: return bytes
            case .acknowledgement(let frame): return output.message(frame)
            case .piece(let piece):
                let (frame, bytes) = try encoder.frame(piece)
                state.withLock { $0.queue.sent(piece, bytes: bytes) }
                return output.message(frame)
            }
        }
    }

    /// Wakes the socket, because there is room for more input.
    package func wakeUp() { wake() }

    /// Sends a ping.
    package func ping() { state.withLock { if !$0.isClosing { $0.sign = output.ping() } } }

    /// Whether the connection ends: it takes no more messages.
    package var isClosing: Bool { state.withLock(\.isClosing) }

    /// Whether the connection ends and ``nextOutput()`` has returned its last bytes, the close frame.
    ///
    /// After these bytes are sent, the socket can be closed. ``isClosing`` does not suffice: another thread may close
    /// the connection just after ``nextOutput()`` had nothing, and the peer would not get the status and the reason.
    package var hasNoMoreOutput: Bool { state.withLock { $0.isClosing && $0.goodbye == nil && $0.sign == nil } }

    /// The size of the messages that wait to be sent, in bytes.
    package var outgoingBytes: Int { state.withLock(\.queue.bytesInMemory) }

    /// The size of partly received messages, in bytes.
    package var incomingBytes: Int { input.withLock { $0.decoder.bytesInMemory + $0.socket.bytesInMemory } }

    /// The memory of messages that were partly received or are not sent yet, in bytes.
    package var bytesInMemory: Int { incomingBytes + state.withLock(\.queue.bytesHeld) }

    /// Couchbase Lite's status for a temporary error. Its replicator goes offline, shows the reason, and connects
    /// again; the answer to the handshake then tells it whether it may. With 1001, 1008, 1011 and 1013 it stops
    /// permanently.
    package static let mayPass: UInt16 = 4001

    /// Closes the connection with a status, 1000 for a normal end, and a reason. Remaining output is not sent.
    package func close(_ status: UInt16, reason: String = "") {
        state.withLock { state in
            guard !state.isClosing else { return }
            state.isClosing = true
            state.goodbye = output.close(status, reason: reason)
        }
        wake()
    }

    /// Closes the connection for an error of ``receive(_:)``. A slow server may have too many requests to answer though its client keeps
    /// all rules, so that status lets the client connect again; others are 1002, or the one that RFC 6455 gives to the violation.
    package func close(for error: any Error) {
        switch error {
        case let error as WebSocketError: close(error.status)
        case let error as BLIPError where error.domain == "HTTP": close(Self.mayPass, reason: error.description)
        default: close(1002)
        }
    }

    /// Ends the connection because the socket has closed: pending requests fail, and partial and unsent messages
    /// are dropped.
    package func end() {
        input.withLock { input in
            input.socket.discard()
            input.decoder.discard()
        }
        let takers = state.withLock { state in
            (state.isClosed, state.isClosing) = (true, true)
            state.queue = BLIPQueue()
            defer { state.awaited = [:] }
            return state.awaited.values
        }
        for taker in takers { taker(.failure(.closed)) }
        ended()
    }
}

// MARK: - BLIPLimits

/// The limits of one connection.
package struct BLIPLimits: Sendable {
    /// The maximum size of a message in bytes: the largest content, and its properties.
    package var largestMessage = MobileLimits.largestContent + BLIPMessage.maximumPropertyBytes
    /// The maximum size of a request that is kept, in bytes. The rest of a longer one is skipped, and it is
    /// answered with 413. With `nil`, a longer one violates the protocol.
    package var largestRequest: Int?
    /// The maximum total size of partly received messages, in bytes.
    package var maximumIncomingBytes = 48 << 20
    /// The total size of partly received messages above which only one of them is acknowledged, so that the rest
    /// wait at their sender.
    package var maximumBytesAtOnce = 8 << 20
    /// The maximum number of partly received messages.
    package var maximumOpenMessages = 64
    /// The maximum number of requests that wait for an answer from this end.
    package var maximumUnanswered = 2048

    package init() {}
}
