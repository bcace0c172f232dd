internal import SettlePlatform

/// Forwards one request to the server and its answer back, concurrently.
///
///     client.input ── takeRequest ──▶ up ───── sendUp ────▶ server
///     client ◀────── sendDown ────── down ◀── takeAnswer ── server.input
///
/// Both queues are bounded: nothing is read that can't be forwarded. If a head can't be parsed, all bytes are
/// forwarded in both directions until the connections end.
final class ProxyExchange {
    /// The reason for the end of an exchange.
    enum End {
        /// The answer was forwarded; the connection may serve another request.
        case complete
        /// The answer was forwarded, and the connection must end.
        case last
        /// The limit of a cut is reached.
        case cut
        /// The answer has begun, and the rest of it is not needed.
        case answered
        /// The client or the server disconnected.
        case left
        /// The proxy goes down.
        case stopped
    }

    private enum Progress {
        case head
        case body(BodyFraming)
        case done
    }

    private static let room = 1 << 16

    private let client: ProxySocket
    private let server: ProxySocket
    private let signal: ProxySignal
    private let method: String
    private var up = ByteQueue()
    private var down = ByteQueue()
    private var request: BodyFraming
    private var answer = Progress.head
    private var valve = ProxyValve()
    private var upLimit = Int.max
    /// The position of the byte to change in the answer's content, when it is known.
    private var flip: Int?
    private var keepsConnection: Bool

    private let fault: Fault
    /// Whether the exchange ends when the answer begins, without forwarding it.
    private let isForNobody: Bool
    /// The number of request bytes that the server got.
    private(set) var requestBytes = 0
    /// The number of answer bytes that the client got.
    var answerBytes: Int { valve.passed }
    /// Called before the fault is visible.
    var onDone: () -> Void = {}
    /// Called with the answer's status.
    var onStatus: (Int) -> Void = { _ in }

    /// Starts to forward a request whose head was read. A fault that is not about exchanges has no effect.
    ///
    /// With `isForNobody` the exchange ends when the answer begins, and the client gets no byte of it.
    init(
        _ request: ProxyRequest, from client: ProxySocket, to server: ProxySocket, _ signal: ProxySignal,
        fault: Fault = .none, isForNobody: Bool = false
    ) {
        (self.client, self.server, self.signal) = (client, server, signal)
        (self.fault, self.isForNobody) = (fault, isForNobody)
        self.request = request.body
        method = request.method
        keepsConnection = request.keepsConnection
        up = request.held
        if request.method.isEmpty { answer = .body(.untilEnd) }
        switch fault {
        case .cut(.request, let count, _): upLimit = max(0, count)
        case .cut(.answer, let count, _): valve.limit = max(0, count)
        default: break
        }
    }

    /// Forwards bytes until the exchange ends.
    func run() -> End {
        while true {
            receiveRequest()
            if receiveAnswer() { return .answered }
            sendUp()
            sendDown()
            if let end { return end }
            // Sending made room for bytes that were already read, which `poll` does not report.
            if canTake { continue }
            guard wait() else { return .stopped }
        }
    }

    /// The reason for the end; `nil` if it has not ended.
    private var end: End? {
        if requestBytes >= upLimit { return .cut }
        if valve.isExhausted, valve.passed > 0 || !down.isEmpty { return .cut }
        if client.isBroken, !isForNobody { return .left }
        guard down.isEmpty else { return nil }
        let isAnswered = if case .done = answer { true } else { false }
        if isAnswered, request.isDone && up.isEmpty || server.isBroken {
            return keepsConnection && !server.isBroken ? .complete : .last
        }
        return server.hasEnded && server.input.isEmpty ? (isAnswered ? .last : .left) : nil
    }

    /// Whether bytes that were read fit into a queue.
    private var canTake: Bool {
        if !request.isDone, up.count < Self.room, !client.input.isEmpty { return true }
        if case .body = answer { return down.count < Self.room && !server.input.isEmpty }
        return false
    }

    private func receiveRequest() {
        while !request.isDone, up.count < Self.room, !client.input.isEmpty {
            let count = request.step(over: client.input.waiting).count
            up.append(client.input.waiting.prefix(count))
            client.input.drop(count)
        }
    }

    private func sendUp() {
        while !up.isEmpty, requestBytes < upLimit {
            let count = server.send(up.waiting.prefix(upLimit - requestBytes))
            if count == 0 { break }
            requestBytes += count
            up.drop(count)
        }
        // A server that does not read the request may have answered it already.
        if server.isBroken {
            up.removeAll()
            request = .length(0)
        }
        if client.hasEnded, client.input.isEmpty, up.isEmpty, !isForNobody { server.finishSending() }
    }

    private func sendDown() {
        while !down.isEmpty, valve.allowance > 0 {
            let count = client.send(down.waiting.prefix(valve.allowance))
            if count == 0 { break }
            valve.pass(count)
            down.drop(count)
        }
    }

    /// Waits until bytes can be read or sent; `false` when the proxy goes down.
    private func wait() -> Bool {
        let isWriting = !down.isEmpty && valve.isOpen
        var polled = [
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
            client.polled(isWriting: isWriting), server.polled(isWriting: !up.isEmpty),
        ]
        let isClosed = !down.isEmpty && !valve.isOpen
        _ = poll(&polled, nfds_t(polled.count), isClosed ? valve.opens?.milliseconds ?? -1 : -1)
        if polled[0].revents != 0 { return false }
        client.handle(polled[1])
        server.handle(polled[2])
        return true
    }

    // MARK: - The answer

    /// Takes received bytes of the answer; returns whether it has begun and the rest is not needed.
    private func receiveAnswer() -> Bool {
        while down.count < Self.room {
            switch answer {
            case .done: return false
            case .head:
                guard let known = nextHead() else { return false }
                guard known else { continue }
                if isForNobody { return true }
                if case .loseAnswer = fault { return true }
            case .body(let framing): guard receiveBody(framing) else { return false }
            }
        }
        return false
    }

    /// Handles the next head: returns whether it is the answer's final one, or `nil` if it is incomplete.
    private func nextHead() -> Bool? {
        let waiting = server.input.waiting
        guard let length = MessageHead.length(in: waiting) else {
            guard server.hasEnded || waiting.count > MessageHead.longest else { return nil }
            return giveUp()
        }
        guard let head = MessageHead(waiting.prefix(length)), let status = head.status, status != 101,
            let framing = head.answerFraming(to: method)
        else { return giveUp() }
        server.input.drop(length)
        if status < 200 {
            if !isForNobody { down.append(head.bytes) }
            return false
        }
        onStatus(status)
        keepsConnection = keepsConnection && head.keepsConnection
        begin(head, framing)
        answer = framing.isDone ? .done : .body(framing)
        return true
    }

    /// Forwards everything unchanged, because it can't be parsed.
    private func giveUp() -> Bool {
        answer = .body(.untilEnd)
        return false
    }

    private func receiveBody(_ framing: BodyFraming) -> Bool {
        var framing = framing
        let waiting = server.input.waiting
        guard !waiting.isEmpty else {
            if case .untilEnd = framing, server.hasEnded {
                answer = .done
                keepsConnection = false
            }
            return false
        }
        let step = framing.step(over: waiting.prefix(Self.room))
        var piece = waiting.prefix(step.count)
        if step.isContent, let position = flip {
            if position < step.count {
                onDone()
                piece[piece.startIndex + position] ^= 1
                flip = nil
            } else {
                flip = position - step.count
            }
        }
        down.append(piece)
        server.input.drop(step.count)
        answer = framing.isDone ? .done : .body(framing)
        return true
    }

    /// Starts the answer as the fault requires.
    private func begin(_ head: MessageHead, _ framing: BodyFraming) {
        var head = head
        switch fault {
        case .delay(let time):
            onDone()
            valve.opens = .now + time
        case .drip(let count, let pause) where count > 0:
            onDone()
            valve.startDrip(count, pause)
        case .cut(.body, let count, _) where !framing.isDone:
            let most = framing.length.map { $0 - 1 } ?? .max
            valve.limit = valve.passed + down.count + head.bytes.count + max(0, min(count, most))
        case .wrongLength(let difference):
            guard let length = framing.length, !framing.isDone, max(0, length + difference) != length else { break }
            onDone()
            head.replaceLength(max(0, length + difference))
            // A client that waits for more bytes than there are has to see the connection end.
            if difference > 0 { keepsConnection = false }
        case .flipBit(let position) where head.has("Content-Type", "json") && !framing.isDone:
            flip = framing.length.map { max(0, position) % $0 } ?? max(0, position)
        default: break
        }
        down.append(head.bytes)
    }
}

// MARK: - ProxyValve

/// Controls when, and how many, bytes of an answer are forwarded to the client.
struct ProxyValve {
    /// The maximum number of bytes; `nil` for no limit.
    var limit: Int?
    /// The time before which no byte is forwarded.
    var opens: ContinuousClock.Instant?
    /// The number of next bytes to forward one at a time, and the pause between them.
    private var drip: (left: Int, pause: Duration) = (0, .zero)
    /// The number of forwarded bytes.
    private(set) var passed = 0

    /// Whether the limit is reached.
    var isExhausted: Bool { limit.map { passed >= $0 } ?? false }

    /// Whether a byte may be forwarded now.
    var isOpen: Bool { !isExhausted && (opens.map { $0 <= .now } ?? true) }

    /// The number of bytes that may be forwarded now.
    var allowance: Int { isOpen ? min(drip.left > 0 ? 1 : .max, (limit ?? .max) - passed) : 0 }

    /// Forwards the next bytes one at a time.
    mutating func startDrip(_ count: Int, _ pause: Duration) {
        drip = (count, pause)
        if count > 0 { opens = .now + pause }
    }

    /// Records forwarded bytes.
    mutating func pass(_ count: Int) {
        passed += count
        guard drip.left > 0, count > 0 else { return }
        drip.left -= 1
        opens = drip.left > 0 ? .now + drip.pause : nil
    }
}
