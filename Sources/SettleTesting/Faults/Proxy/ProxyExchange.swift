internal import SettlePlatform

/// One request on its way to the server, and the answer on its way back, both at a time.
///
///     client.input ── takeRequest ──▶ up ───── sendUp ────▶ server
///     client ◀────── sendDown ────── down ◀── takeAnswer ── server.input
///
/// Both queues are bounded: nobody reads what can't be passed on. Where a head is not understood, all bytes pass in both
/// directions until the connections end.
final class ProxyExchange {
    /// Why it is over.
    enum End {
        /// The answer has passed; the connection may serve another request.
        case complete
        /// The answer has passed, and nothing may follow.
        case last
        /// As many bytes have passed as may.
        case cut
        /// The answer has begun, and no more of it was wanted.
        case answered
        /// One of the two has gone.
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
    /// The position in the answer's content of the byte to change, when it is in what comes.
    private var flip: Int?
    private var keepsConnection: Bool

    private let fault: Fault
    /// Ends when the answer begins; the client gets nothing of it.
    private let isForNobody: Bool
    /// How many bytes of the request the server got.
    private(set) var requestBytes = 0
    /// How many bytes of the answer the client got.
    var answerBytes: Int { valve.passed }
    /// Called before anybody can notice the fault.
    var onDone: () -> Void = {}
    /// Called with the answer's status.
    var onStatus: (Int) -> Void = { _ in }

    /// Begins to pass a request on, of which at least the head has been read; a fault that is none of an exchange is none.
    ///
    /// For nobody, it ends when the answer begins, and the client sees nothing of it.
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

    /// Passes bytes until it is over.
    func run() -> End {
        while true {
            takeRequest()
            if takeAnswer() { return .answered }
            sendUp()
            sendDown()
            if let end { return end }
            // What was sent made room for more that is here already, of which `poll` would not tell.
            if canTake { continue }
            guard wait() else { return .stopped }
        }
    }

    /// Why it is over, if it is.
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

    /// Whether something that has been read can go into a queue.
    private var canTake: Bool {
        if !request.isDone, up.count < Self.room, !client.input.isEmpty { return true }
        if case .body = answer { return down.count < Self.room && !server.input.isEmpty }
        return false
    }

    private func takeRequest() {
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
        // Who does not read the request may have answered it already.
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

    /// Waits until something can go on; false when the proxy goes down.
    private func wait() -> Bool {
        let isWriting = !down.isEmpty && valve.isOpen
        var polled = [
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
            client.polled(isWriting: isWriting), server.polled(isWriting: !up.isEmpty),
        ]
        let isClosed = !down.isEmpty && !valve.isOpen
        _ = poll(&polled, nfds_t(polled.count), isClosed ? valve.opens?.milliseconds ?? -1 : -1)
        if polled[0].revents != 0 { return false }
        client.take(polled[1])
        server.take(polled[2])
        return true
    }

    // MARK: - The answer

    /// Takes what came of the answer; says whether it has begun and no more of it is wanted.
    private func takeAnswer() -> Bool {
        while down.count < Self.room {
            switch answer {
            case .done: return false
            case .head:
                guard let known = nextHead() else { return false }
                guard known else { continue }
                if isForNobody { return true }
                if case .loseAnswer = fault { return true }
            case .body(let framing): guard takeBody(framing) else { return false }
            }
        }
        return false
    }

    /// Takes a head: whether it is the answer's last, or `nil` when it has not come as a whole.
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

    /// Lets everything pass that can't be understood.
    private func giveUp() -> Bool {
        answer = .body(.untilEnd)
        return false
    }

    private func takeBody(_ framing: BodyFraming) -> Bool {
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

    /// Begins the answer as the fault wants it.
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
            // Who waits for more than comes has to learn that it does not.
            if difference > 0 { keepsConnection = false }
        case .flipBit(let position) where head.has("content-type", "json") && !framing.isDone:
            flip = framing.length.map { max(0, position) % $0 } ?? max(0, position)
        default: break
        }
        down.append(head.bytes)
    }
}
