internal import SettlePlatform

/// One end of a BLIP connection over a WebSocket, without a socket: bytes that have come go in, bytes to send come out.
///
///     socket ─→ receive ─→ frames ─→ messages ─→ handler         requests of the other end
///                                        └─────→ taker           answers to requests from here
///     socket ←─ nextOutput ←─ frames ←─ messages ←─ send, respond
///
/// Frames are made when the socket has room, so that what is in memory is bounded by the messages that wait.
package final class BLIPConnection: Sendable {
    /// Takes the answer to a request, once.
    package typealias Taker = @Sendable (Result<BLIPMessage, BLIPError>) -> Void
    /// Takes a request of the other end; the answer is given to ``respond(to:with:)``, then or later.
    package typealias Handler = @Sendable (BLIPMessage) -> Void

    /// Input that is not a whole message yet.
    private struct Input {
        var socket: WebSocketDecoder
        let decoder: BLIPDecoder
    }

    private struct State {
        var queue = BLIPQueue()
        var awaited: [UInt64: Taker] = [:]
        /// A pong or ping, and the closing frame, which go out before others. Of several pings the last one is answered, so that
        /// a client that only sends pings fills no memory (RFC 6455, section 5.5.3).
        var sign: [UInt8]?
        var goodbye: [UInt8]?
        /// How many requests of the other end have no answer yet.
        var unanswered = 0
        var isClosing = false
        var isClosed = false
    }

    private let output: WebSocketEncoder
    private let limits: BLIPLimits
    /// Compression in one direction holds up neither the other one nor those who send; `state` is locked within the other two.
    private let input: Guarded<Input>
    private let encoder = Guarded(BLIPEncoder())
    private let state = Guarded(State())
    private let handler: Handler
    private let wake: @Sendable () -> Void
    private let ended: @Sendable () -> Void

    /// - Parameters:
    ///   - isServer: Whether the other end is the client.
    ///   - limits: What the connection may cost.
    ///   - handler: Called with each request, on the thread that calls ``receive(_:)``.
    ///   - wake: Called when there is output after there was none; must not wait.
    ///   - ended: Called when the socket is gone, by ``end()``.
    package init(
        isServer: Bool, limits: BLIPLimits, handler: @escaping Handler, wake: @escaping @Sendable () -> Void = {},
        ended: @escaping @Sendable () -> Void = {}
    ) {
        self.limits = limits
        (self.wake, self.ended) = (wake, ended)
        self.handler = handler
        output = WebSocketEncoder(isClient: !isServer)
        // A frame of BLIP is one message of the WebSocket; it may be compressed, and no shorter then.
        input = Guarded(
            Input(
                socket: WebSocketDecoder(isServer: isServer, limit: limits.largestMessage + 64),
                decoder: BLIPDecoder(limits)))
    }

    /// Takes bytes as they come from the socket, by one thread at a time.
    ///
    /// - Throws: ``WebSocketError`` or ``BLIPError`` when the other end breaks the protocol or passes a limit; ``close(_:)`` then.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws {
        // After a goodbye nothing more is read.
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

    /// Answers a request that was too long to be kept, or has the one that waits for such an answer fail.
    private func refuse(_ message: BLIPMessage, _ taker: Taker?) {
        let isRequest = message.kind == .request
        let document = message.properties["id"].map { "the document \"\($0)\"" }
        let name = document ?? (isRequest ? "the message" : "the answer")
        let limit = isRequest ? limits.largestRequest ?? limits.largestMessage : limits.largestMessage
        let error = BLIPError.http(413, "\(name) has more than \(limit) bytes, the most that is taken")
        taker?(.failure(error))
        if isRequest { respond(to: message, with: .failure(error)) }
    }

    /// Reads an event of the WebSocket; those without a message have no further effect.
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

    /// Records a frame, and returns the taker of the answer that the frame completes.
    private func handle(_ result: BLIPDecoder.Result, _ state: inout State) throws(BLIPError) -> Taker? {
        for due in result.due { state.queue.acknowledge(due.key, bytes: due.bytes) }
        if let received = result.received { state.queue.received(received.key, bytes: received.bytes) }
        guard let message = result.message else { return nil }
        guard message.kind == .request else { return state.awaited.removeValue(forKey: message.number) }
        guard !message.isSilent else { return nil }
        state.unanswered += 1
        guard state.unanswered <= limits.maximumUnanswered else {
            throw .broken("more than \(limits.maximumUnanswered) requests wait for an answer")
        }
        return nil
    }

    /// Sends a request; the answer goes to `taker`, on the thread that receives it. A silent request has none, and a closed
    /// connection answers at once with ``BLIPError/closed``.
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

    /// The next bytes for the socket; `nil` while there is nothing to send.
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

    /// Has the socket looked at again, since there is room for more.
    package func wakeUp() { wake() }

    /// Asks the other end for a sign of life.
    package func ping() { state.withLock { if !$0.isClosing { $0.sign = output.ping() } } }

    /// Whether to close the socket once all output is sent.
    package var isClosing: Bool { state.withLock(\.isClosing) }

    /// The bytes of messages that wait to be sent.
    package var outgoingBytes: Int { state.withLock(\.queue.bytesInMemory) }

    /// The bytes of messages that have come in part.
    package var incomingBytes: Int { input.withLock { $0.decoder.bytesInMemory + $0.socket.bytesInMemory } }

    /// The memory of messages that were received in part or are not sent yet, in bytes.
    package var bytesInMemory: Int { incomingBytes + state.withLock(\.queue.bytesHeld) }

    /// Couchbase Lite's status for an error that may pass. A replicator of it goes offline, shows the reason, and connects
    /// again; then the answer to the handshake says whether it may. With 1001, 1008, 1011 and 1013 it stops for good.
    package static let mayPass: UInt16 = 4001

    /// Says goodbye with a status, 1000 for a normal end, and a reason; remaining output is not sent.
    package func close(_ status: UInt16, reason: String = "") {
        state.withLock { state in
            guard !state.isClosing else { return }
            state.isClosing = true
            state.goodbye = output.close(status, reason: reason)
        }
        wake()
    }

    /// Ends the connection because the socket is gone: pending requests fail, and partial and unsent messages are dropped.
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
    /// The bytes of one message: the largest content, and its properties.
    package var largestMessage = MobileLimits.largestContent + BLIPMessage.maximumPropertyBytes
    /// The bytes of a request that are kept. The rest of a longer one is read past, and it is answered 413; `nil` if a longer
    /// one breaks the protocol.
    package var largestRequest: Int?
    /// The bytes of all messages that have come in part.
    package var maximumIncomingBytes = 48 << 20
    /// The bytes of such messages from which on only one of them is acknowledged, so that the others wait at their sender.
    package var maximumBytesAtOnce = 8 << 20
    /// The number of messages that may have begun and not ended.
    package var maximumOpenMessages = 64
    /// The number of requests that may wait for an answer from here.
    package var maximumUnanswered = 2048

    package init() {}
}
