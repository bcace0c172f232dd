#if canImport(CCurl)
internal import CCurl
internal import SettleHTTP
internal import SettleMobile
internal import SettlePlatform

/// The socket of one WebSocket to a server: curl connects it, through TLS and proxies, and a thread moves bytes.
///
///     connect ─→ request's head ─→ answer's head ─→ bytes to and from the connection, until one of the two ends
///
/// A server that sends nothing for some time gets a ping; if it does not answer, the connection is closed.
///
/// Unchecked: it needs no lock, because only the thread that runs it uses the handle.
final class CurlWebSocket: @unchecked Sendable {
    /// The times of silence after which a server gets a ping, and after which it counts as lost.
    private static let pingAfter = Duration.seconds(30)
    private static let lostAfter = Duration.seconds(90)

    private let request: HTTPRequest
    private let options: TransportOptions
    private let connection: BLIPConnection
    private let bell: SocketBell
    private let easy: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?

    private init?(
        _ request: HTTPRequest, _ options: TransportOptions, _ connection: BLIPConnection, _ bell: SocketBell
    ) {
        guard CurlThread.isReady, let easy = curl_easy_init() else { return nil }
        (self.request, self.options, self.connection, self.bell) = (request, options, connection, bell)
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
        errorText.deallocate()
    }

    /// Connects, and then moves bytes until the connection closes.
    ///
    /// - Parameters:
    ///   - request: The address and the headers.
    ///   - options: Certificates and proxy.
    ///   - connection: Receives bytes, and has bytes to send. It ends together with the socket.
    ///   - bell: Rung by the connection when there is something to send.
    /// - Throws: ``TransportError`` if no server is reached; ``CouchDBError`` if the server does not open a
    ///   WebSocket.
    static func open(
        _ request: HTTPRequest, _ options: TransportOptions, _ connection: BLIPConnection, _ bell: SocketBell
    ) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let failed = TransportError(.failed, "the system has no thread left for another connection")
            do {
                guard let socket = CurlWebSocket(request, options, connection, bell) else { throw failed }
                try SystemThread.detach {
                    defer { connection.end() }
                    do {
                        let first = try socket.connect()
                        continuation.resume()
                        socket.move(first)
                    } catch { continuation.resume(throwing: error) }
                }
            } catch { continuation.resume(throwing: failed) }
        }
    }

    /// Connects, and returns the bytes after the head of the response.
    private func connect() throws -> [UInt8] {
        var setup = CurlSetup(easy)
        headers = setup.apply(request, options)
        setup.check(settle_curl_set_error_buffer(easy, errorText))
        setup.check(settle_curl_set_long(easy, CURLOPT_CONNECT_ONLY, 1))
        try setup.finish()
        let code = curl_easy_perform(easy)
        guard code == CURLE_OK else {
            throw CurlFailure.error(code, easy, request.url, words: String(cString: errorText))
        }
        let key = WebSocketHandshake.key()
        var head = request.webSocketHead(options, key: key)[...]
        let deadline = ContinuousClock.now + request.connectTimeout
        var received: [UInt8] = []
        while true {
            try send(&head)
            let isOpen = receive { received += $0 }
            if let answer = try WebSocketHandshake.answer(received) {
                guard answer.agrees(to: key) else { throw CouchDBError(answer, to: request) }
                return answer.rest
            }
            guard isOpen else { throw lost }
            guard ContinuousClock.now < deadline else {
                throw TransportError(.timedOut, "\(request.url.authority) took too long to answer")
            }
            wait(writes: !head.isEmpty, for: .seconds(1))
        }
    }

    private var lost: TransportError {
        TransportError(.connectionLost, "the connection to \(request.url.authority) was lost")
    }

    /// Moves bytes until the connection is closed and its last bytes are sent, or the socket ends.
    private func move(_ first: [UInt8]) {
        var output: ArraySlice<UInt8> = []
        var (lastRead, lastPing) = (ContinuousClock.now, ContinuousClock.now)
        do {
            try first.withUnsafeBytes { try connection.receive($0) }
            while true {
                while output.isEmpty {
                    var next: [UInt8] = []
                    while next.count < 64 << 10, let frame = try connection.nextOutput() { next += frame }
                    if next.isEmpty { break }
                    output = next[...]
                    try send(&output)
                }
                if output.isEmpty, connection.hasNoMoreOutput { return }
                wait(writes: !output.isEmpty, for: .seconds(10))
                try send(&output)
                var failure: (any Error)?
                let isOpen = receive { bytes in
                    lastRead = .now
                    do { try connection.receive(bytes) } catch { failure = error }
                    return
                }
                if let failure { throw failure }
                let silence = ContinuousClock.now - lastRead
                guard isOpen, silence < Self.lostAfter else { return }
                if silence > Self.pingAfter, ContinuousClock.now - lastPing > Self.pingAfter {
                    lastPing = .now
                    connection.ping()
                }
            }
        } catch {
            // The other end violated the protocol, or the socket has failed. Requests that wait for an answer fail.
            connection.close(for: error)
            if let goodbye = try? connection.nextOutput() {
                output = goodbye[...]
                try? send(&output)
            }
        }
    }

    /// Sends as much as possible without waiting.
    private func send(_ bytes: inout ArraySlice<UInt8>) throws(TransportError) {
        while !bytes.isEmpty {
            var count = 0
            let code = bytes.withUnsafeBytes { curl_easy_send(easy, $0.baseAddress, $0.count, &count) }
            if code == CURLE_AGAIN { return }
            guard code == CURLE_OK else { throw lost }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Passes on received bytes; returns whether more may come.
    private func receive(_ take: (UnsafeRawBufferPointer) -> Void) -> Bool {
        defer { Sockets.acknowledgeAtOnce(settle_curl_get_socket(easy)) }
        return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { room in
            // At most 1 MiB per turn, so that a fast server can't keep this end from sending.
            for _ in 0..<16 {
                var count = 0
                let code = curl_easy_recv(easy, room.baseAddress, room.count, &count)
                if code == CURLE_AGAIN { return true }
                guard code == CURLE_OK, count > 0 else { return false }
                take(UnsafeRawBufferPointer(rebasing: room[..<count]))
            }
            bell.ring()
            return true
        }
    }

    /// Waits for an event of the socket or the bell.
    private func wait(writes: Bool, for time: Duration) {
        let descriptor = settle_curl_get_socket(easy)
        var polled = [
            pollfd(fd: descriptor, events: Int16(POLLIN) | (writes ? Int16(POLLOUT) : 0), revents: 0),
            pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&polled, 2, Int32(clamping: time.milliseconds))
        if polled[1].revents != 0 { bell.silence() }
    }
}
#endif
