#if canImport(Darwin) || SETTLE_APPLE
internal import Foundation
internal import SettleHTTP
internal import SettleMobile
internal import SettlePlatform

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The socket of one WebSocket to a server, by `URLSessionStreamTask`: the system connects it, through TLS.
///
///     connect ─→ request's head ─→ answer's head ─→ one task reads, one writes, until one of the two ends
///
/// A server that sends nothing for some time gets a ping; if it does not answer, the connection is closed.
///
/// Unchecked: `URLSession` and its tasks have their own locks, the lock of `Guarded` protects `lastRead`, and no
/// other property changes.
final class StreamTaskWebSocket: @unchecked Sendable {
    /// The times of silence after which a server gets a ping, and after which it counts as lost.
    private static let pingAfter = Duration.seconds(30)
    private static let lostAfter = Duration.seconds(90)

    private let request: HTTPRequest
    private let connection: BLIPConnection
    private let bell: SocketBell
    private let session: URLSession
    private let task: URLSessionStreamTask
    private let lastRead = Guarded(ContinuousClock.now)

    private init(
        _ request: HTTPRequest, _ options: TransportOptions, _ connection: BLIPConnection, _ bell: SocketBell
    ) {
        (self.request, self.connection, self.bell) = (request, connection, bell)
        #if canImport(Darwin)
        let trust = StreamTaskTrust(URLSessionTrust(options.tls, request.url), options.tls.clientCertificate)
        session = URLSession(configuration: .ephemeral, delegate: trust, delegateQueue: nil)
        #else
        session = URLSession(configuration: .ephemeral)
        #endif
        task = session.streamTask(withHostName: request.url.host, port: request.url.port)
    }

    /// Connects, and then moves bytes until the connection closes.
    ///
    /// - Parameters:
    ///   - request: The address and the headers.
    ///   - options: Certificates.
    ///   - connection: Receives bytes, and has bytes to send. It ends together with the socket.
    ///   - bell: Rung by the connection when there is something to send.
    /// - Throws: ``TransportError`` if no server is reached; ``CouchDBError`` if the server does not open a
    ///   WebSocket.
    static func open(
        _ request: HTTPRequest, _ options: TransportOptions, _ connection: BLIPConnection, _ bell: SocketBell
    ) async throws {
        do { try options.checkAddresses() } catch {
            connection.end()
            throw error
        }
        let socket = StreamTaskWebSocket(request, options, connection, bell)
        do {
            let first = try await socket.connect(options)
            Task { await socket.move(first) }
        } catch {
            socket.end()
            throw error
        }
    }

    private func end() {
        task.cancel()
        session.invalidateAndCancel()
        connection.end()
        bell.ring()
    }

    /// Connects, and returns the bytes after the head of the response.
    private func connect(_ options: TransportOptions) async throws -> [UInt8] {
        task.resume()
        if request.url.scheme == .https { task.startSecureConnection() }
        let key = WebSocketHandshake.key()
        let head = request.webSocketHead(options, key: key)
        let time = Double(request.connectTimeout.milliseconds) / 1000
        do {
            try await task.write(Data(head), timeout: time)
            var received: [UInt8] = []
            while true {
                let (bytes, isAtEnd) = try await task.readData(ofMinLength: 1, maxLength: 64 << 10, timeout: time)
                received += bytes ?? Data()
                if let answer = try WebSocketHandshake.answer(received) {
                    guard answer.agrees(to: key) else { throw CouchDBError(answer, to: request) }
                    return answer.rest
                }
                guard !isAtEnd else {
                    throw TransportError(.connectionLost, "the connection to \(request.url.authority) was lost")
                }
            }
        } catch let error as URLError { throw URLSessionFailure.error(error, request.url) }
    }

    /// Moves bytes until the connection is closed and its last bytes are sent, or the socket ends.
    private func move(_ first: [UInt8]) async {
        let writer = Task { [self] in
            await write()
            task.cancel()
        }
        do {
            try first.withUnsafeBytes { try connection.receive($0) }
            while true {
                let (bytes, isAtEnd) = try await task.readData(ofMinLength: 1, maxLength: 64 << 10, timeout: 0)
                lastRead.withLock { $0 = .now }
                if let bytes { try Array(bytes).withUnsafeBytes { try connection.receive($0) } }
                if isAtEnd { break }
            }
        } catch { connection.close(for: error) }
        connection.end()
        bell.ring()
        await writer.value
        end()
    }

    /// Sends output until the connection is closed and its last bytes are sent, or the server is lost.
    private func write() async {
        var lastPing = ContinuousClock.now
        for await _ in rings() {
            while let bytes = try? connection.nextOutput() {
                guard (try? await task.write(Data(bytes), timeout: 90)) != nil else { return }
            }
            let silence = lastRead.withLock { .now - $0 }
            if connection.hasNoMoreOutput || silence > Self.lostAfter { return }
            if silence > Self.pingAfter, .now - lastPing > Self.pingAfter {
                lastPing = .now
                connection.ping()
                bell.ring()
            }
        }
    }

    /// Yields at once, each time the bell rings, and after ten seconds without a ring.
    private func rings() -> AsyncStream<Void> {
        let (stream, rings) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        rings.yield()
        let thread: @Sendable () -> Void = { [bell] in
            var polled = pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)
            repeat {
                _ = poll(&polled, 1, 10_000)
                bell.silence()
            } while rings.yield().goesOn
        }
        do { try SystemThread.detach(thread) } catch { rings.finish() }
        return stream
    }
}

extension AsyncStream.Continuation.YieldResult {
    fileprivate var goesOn: Bool { if case .terminated = self { false } else { true } }
}
#endif
