internal import SettlePlatform

/// One connection of a client, whose requests are served in sequence on one thread.
final class ProxyConnection {
    private let number: Int
    private let client: ProxySocket
    private let core: ProxyCore
    private let signal: ProxySignal
    private var server: ProxySocket?

    init(_ number: Int, _ client: ProxySocket, _ core: ProxyCore, _ signal: ProxySignal) {
        (self.number, self.client, self.core, self.signal) = (number, client, core, signal)
    }

    /// Serves the client until the connection ends.
    func run() {
        while let request = nextRequest(), serve(request) {}
        client.end(by: .close)
        server?.end(by: .close)
    }

    /// Waits for a request; `nil` if no more can come.
    private func nextRequest() -> ProxyRequest? {
        while true {
            let waiting = client.input.waiting
            if let length = MessageHead.length(in: waiting) {
                guard let request = MessageHead(waiting.prefix(length)).flatMap({ ProxyRequest($0) }) else {
                    return ProxyRequest()
                }
                client.input.drop(length)
                return request
            }
            if client.isBroken || client.hasEnded && waiting.isEmpty { return nil }
            if client.hasEnded || waiting.count > MessageHead.longest { return ProxyRequest() }
            if let server, server.hasEnded || server.isBroken { return nil }
            if let server, !server.input.isEmpty { return ProxyRequest() }
            guard wait() else { return nil }
        }
    }

    /// Serves a request with its fault; returns whether another may follow.
    private func serve(_ request: ProxyRequest) -> Bool {
        let (record, fault) = core.ledger.begin(method: request.method, path: request.path, connection: number)
        switch fault {
        case .silence(let time):
            core.ledger.markDone(record, fault.kind)
            stayUntilGone(.now + time)
            core.ledger.finish(record, requestBytes: 0, answerBytes: 0)
            return false
        case .refuse(let time):
            core.ledger.markDone(record, fault.kind)
            core.ledger.finish(record, requestBytes: 0, answerBytes: 0)
            core.goDown(for: time) { client.end(by: .reset) }
            return false
        case .answer(let status, let retryAfter, let body):
            return answer(request, record, fault, status, retryAfter, body)
        case .duplicate: return serveTwice(request, record)
        default: return pass(request, record, fault)
        }
    }

    private func pass(_ request: ProxyRequest, _ record: Int, _ fault: Fault, earlier: Int = 0) -> Bool {
        guard let server = connected() else {
            core.ledger.finish(record, requestBytes: earlier, answerBytes: 0)
            return false
        }
        let exchange = ProxyExchange(request, from: client, to: server, signal, fault: fault)
        let ledger = core.ledger
        exchange.onDone = { ledger.markDone(record, fault.kind) }
        exchange.onStatus = { ledger.set(status: $0, of: record) }
        let end = exchange.run()
        let ending = fault.ending(after: end)
        if ending != nil { ledger.markDone(record, fault.kind) }
        ledger.finish(
            record, requestBytes: earlier + exchange.requestBytes, answerBytes: exchange.answerBytes)
        if let ending {
            client.end(by: ending)
            server.end(by: ending)
        }
        if case .complete = end { return ending == nil }
        return false
    }

    private func serveTwice(_ request: ProxyRequest, _ record: Int) -> Bool {
        var request = request
        guard !request.isWaiting, read(&request, holding: FaultProxy.longestHeld), request.body.isDone,
            let first = Loopback.connect(to: core.serverPort, signal)
        else { return pass(request, record, .none) }
        let exchange = ProxyExchange(request, from: client, to: first, signal, isForNobody: true)
        guard case .answered = exchange.run() else {
            core.ledger.finish(record, requestBytes: exchange.requestBytes, answerBytes: 0)
            return false
        }
        first.end(by: .close)
        core.ledger.markDone(record, .duplicate)
        return pass(request, record, .none, earlier: exchange.requestBytes)
    }

    private func answer(
        _ request: ProxyRequest, _ record: Int, _ fault: Fault, _ status: Int, _ retryAfter: Int?,
        _ body: Fault.AnswerBody
    ) -> Bool {
        var request = request
        // A client that waits for 100 Continue does not send its body after a refusal.
        let isRead = !request.isWaiting && read(&request, holding: 0) && request.body.isDone
        let keeps = isRead && request.keepsConnection
        let answer = OwnAnswer(status: status, retryAfter: retryAfter, body: body, keepsConnection: keeps)
        let bytes = answer.bytes(to: request.method)
        core.ledger.markDone(record, fault.kind)
        core.ledger.set(status: status, of: record)
        core.ledger.finish(record, requestBytes: 0, answerBytes: bytes.count)
        return send(bytes) && keeps
    }

    // MARK: - Waiting

    private func connected() -> ProxySocket? {
        if server == nil { server = Loopback.connect(to: core.serverPort, signal) }
        return server
    }

    /// Reads the rest of a request; keeps it up to a limit, or drops it if the limit is 0.
    ///
    /// Returns `false` if the client or the proxy ends before that.
    private func read(_ request: inout ProxyRequest, holding limit: Int) -> Bool {
        while !request.body.isDone {
            if limit > 0, request.held.count > limit { return true }
            if client.input.isEmpty {
                guard !client.hasEnded, !client.isBroken, wait() else { return false }
                continue
            }
            let count = request.body.step(over: client.input.waiting).count
            if limit > 0 { request.held.append(client.input.waiting.prefix(count)) }
            client.input.drop(count)
        }
        return true
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(client.send(rest))
            guard rest.isEmpty || !client.isBroken && wait(isWriting: true) else { return false }
        }
        return true
    }

    /// Reads and drops bytes until a deadline, or until the client disconnects.
    private func stayUntilGone(_ deadline: ContinuousClock.Instant) {
        while !client.hasEnded, !client.isBroken, ContinuousClock.now < deadline {
            client.input.removeAll()
            guard wait(until: deadline) else { return }
        }
    }

    /// Waits until data was received or can be sent, or the deadline has passed; `false` when the proxy goes down.
    private func wait(isWriting: Bool = false, until deadline: ContinuousClock.Instant? = nil) -> Bool {
        var polled = [
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0), client.polled(isWriting: isWriting),
            server?.polled(isWriting: false) ?? pollfd(fd: -1, events: 0, revents: 0),
        ]
        _ = poll(&polled, nfds_t(polled.count), deadline?.milliseconds ?? -1)
        if polled[0].revents != 0 { return false }
        client.handle(polled[1])
        server?.handle(polled[2])
        return true
    }
}

extension Fault {
    /// The ending of the connections after an exchange; `nil` if the fault does not end them.
    fileprivate func ending(after end: ProxyExchange.End) -> Ending? {
        switch (self, end) {
        case (.cut(_, _, let ending), .cut), (.loseAnswer(let ending), .answered), (.closeAfter(let ending), .complete),
            (.closeAfter(let ending), .last):
            ending
        default: nil
        }
    }
}

// MARK: - OwnAnswer

/// An answer from the proxy instead of the server.
struct OwnAnswer {
    let status: Int
    let retryAfter: Int?
    let body: Fault.AnswerBody
    let keepsConnection: Bool

    /// The bytes of the answer to a request; without a body for `HEAD`.
    func bytes(to method: String) -> [UInt8] {
        let (phrase, _, _) = Self.words(status)
        let content = content
        var head = "HTTP/1.1 \(status) \(phrase)\r\nContent-Length: \(content.utf8.count)\r\n"
        head += "Content-Type: \(body == .html ? "text/html" : "application/json")\r\n"
        if let retryAfter { head += "Retry-After: \(retryAfter)\r\n" }
        if status == 401 { head += "WWW-Authenticate: Basic realm=\"proxy\"\r\n" }
        if !keepsConnection { head += "Connection: close\r\n" }
        return Array("\(head)\r\n\(method == "HEAD" ? "" : content)".utf8)
    }

    private var content: String {
        let (phrase, error, reason) = Self.words(status)
        switch body {
        case .couchDB: return "{\"error\":\"\(error)\",\"reason\":\"\(reason)\"}\n"
        case .html:
            let title = "\(status) \(phrase)"
            return """
                <html>\r\n<head><title>\(title)</title></head>\r\n<body>\r\n<center><h1>\(title)</h1></center>\r
                <hr><center>proxy</center>\r\n</body>\r\n</html>\r\n
                """
        }
    }

    /// The reason phrase of a status, and CouchDB's name and reason for it.
    private static func words(_ status: Int) -> (phrase: String, error: String, reason: String) {
        switch status {
        case 400: ("Bad Request", "bad_request", "invalid UTF-8 JSON")
        case 401: ("Unauthorized", "unauthorized", "You are not authorized to access this db.")
        case 403: ("Forbidden", "forbidden", "You are not allowed to access this db.")
        case 404: ("Object Not Found", "not_found", "missing")
        case 405: ("Method Not Allowed", "method_not_allowed", "Only GET,HEAD allowed")
        case 406: ("Not Acceptable", "not_acceptable", "No acceptable representation")
        case 408: ("Request Timeout", "timeout", "The request could not be processed in a reasonable amount of time.")
        case 409: ("Conflict", "conflict", "Document update conflict.")
        case 412: ("Precondition Failed", "precondition_failed", "Precondition failed")
        case 413: ("Request Entity Too Large", "too_large", "the request entity is too large")
        case 415: ("Unsupported Media Type", "bad_content_type", "Content-Type must be application/json")
        case 417: ("Expectation Failed", "expectation_failed", "Expectation failed")
        case 429: ("Too Many Requests", "too_many_requests", "Too many requests")
        case 500: ("Internal Server Error", "unknown_error", "undefined")
        case 501: ("Not Implemented", "not_implemented", "Not implemented")
        case 502: ("Bad Gateway", "bad_gateway", "Bad gateway")
        case 503: ("Service Unavailable", "service_unavailable", "Service unavailable")
        case 504: ("Gateway Timeout", "gateway_timeout", "Gateway timeout")
        default: ("Error", "unknown_error", "undefined")
        }
    }
}
