internal import CMicroHTTPD
internal import SettleDatabase
internal import SettlePlatform

/// A connection of the library: the peer's address, the current request, and its progress.
final class MicroHTTPDConnection: Sendable {
    private struct State {
        var exchange: MicroHTTPDExchange?
        var since = ContinuousClock.now
        var received: Int64 = 0
        var isOpen = true
    }

    /// The peer's address, without a port.
    let peer: String
    private let socket: Int32
    private let state = Guarded(State())
    /// The number of a body's bytes that must arrive within the limit.
    private static let leastProgress: Int64 = 16 * 1024

    init(_ connection: OpaquePointer) {
        peer = SocketAddress.name(settle_mhd_peer(connection))
        socket = settle_mhd_socket(connection)
    }

    /// The current request.
    var exchange: MicroHTTPDExchange? { state.withLock { $0.exchange } }

    /// The current request, if its response has nothing to send at the moment or is being made, together with the
    /// socket, on which the client may disconnect; otherwise `nil`.
    var waiting: (exchange: MicroHTTPDExchange, socket: Int32)? {
        let state = state.withLock { $0 }
        guard state.isOpen, let exchange = state.exchange, exchange.isWaitingToSend || exchange.isBeingAnswered else {
            return nil
        }
        return (exchange, socket)
    }

    /// Sets the current request; `nil` while the connection waits for the next one.
    func set(_ exchange: MicroHTTPDExchange?) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.exchange = exchange
            if exchange == nil { (state.since, state.received) = (now, 0) }
        }
    }

    /// Marks the connection as about to be closed, so that its socket is no longer touched.
    func close() { state.withLock { $0.isOpen = false } }

    /// Closes the connection if the client has not sent enough within the limit.
    func look(_ now: ContinuousClock.Instant, limit: Double) {
        let before = state.withLock { $0 }
        let isLate = now - before.since >= .seconds(limit)
        switch before.exchange?.progress ?? .header {
        case .header: if isLate { cut(before) }
        case .body(let received):
            if received - before.received >= Self.leastProgress {
                renew(before, received)
            } else if isLate {
                cut(before)
            }
        case .answering: renew(before, 0)
        }
    }

    private func renew(_ before: State, _ received: Int64) {
        let now = ContinuousClock.now
        state.withLock { if $0.exchange === before.exchange { ($0.since, $0.received) = (now, received) } }
    }

    /// Cuts off the current request, whatever it waits for.
    func cut() {
        guard let exchange else { return }
        exchange.stop(isForced: true)
        state.withLock { state in
            // The library waits for the socket while a client reads nothing.
            if state.isOpen, state.exchange === exchange { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    private func cut(_ before: State) {
        state.withLock { state in
            guard state.isOpen, state.exchange === before.exchange, state.since == before.since else { return }
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }
}

/// An address to listen on, in the system's form.
struct SocketAddress {
    private let bytes: [UInt8]
    let isIPv6: Bool

    /// Resolves an address.
    ///
    /// - Throws: ``ListenerError`` for an invalid address and an unknown name.
    init(host: String, port: Int) throws {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        hints.ai_socktype = Sockets.stream
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let first = found?.pointee, let address = first.ai_addr else {
            throw ListenerError(description: "can't listen on \(host): \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(found) }
        isIPv6 = first.ai_family == AF_INET6
        bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(first.ai_addrlen)))
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { try body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self)) }
    }

    /// A numeric address without its port; empty for `nil`.
    static func name(_ address: UnsafePointer<sockaddr>?) -> String {
        guard let address else { return "" }
        let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
        let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

// MARK: - ConnectionWatch

/// Keeps track of all connections, closes those whose requests arrive too slowly, and ends feeds whose clients have
/// disconnected.
///
/// The library restarts its own limit with each byte, so a client that sends a byte now and then would stay
/// forever. Here a header must be complete within the idle limit, and at least one piece of a body must arrive
/// within each.
///
/// The library does not look at the socket of a connection that waits for something to send. Without this class, a
/// feed without heartbeats would keep its database open for a minute after its client has disconnected.
final class ConnectionWatch: Sendable {
    /// How far a request has arrived.
    enum Progress {
        /// Its header is not complete.
        case header
        /// The number of bytes of its body that have arrived; more are expected.
        case body(Int64)
        /// The server is at work; nothing is expected from the client.
        case answering
    }

    private struct State {
        var connections: [ObjectIdentifier: MicroHTTPDConnection] = [:]
        var isStopped = false
    }

    private let state = Monitor(State())
    private let limit: Double

    init(limit: Int) { self.limit = Double(limit) }

    /// Starts to check connections on a separate thread. Without a limit no request is too slow.
    func start(on pool: WorkerPool) {
        let pause = limit > 0 ? min(limit / 4, 1) : 1
        pool.submit { [self] in
            while state.wait(seconds: pause, for: { $0.isStopped ? true : nil }) == nil {
                let (now, connections) = (ContinuousClock.now, connections)
                if limit > 0 { for connection in connections { connection.look(now, limit: limit) } }
                endAbandoned(connections)
            }
        }
    }

    /// Ends waiting responses whose clients have disconnected. A response that is still being made only gets a
    /// notice, because its client may have closed only its half of the connection. A socket may be closed in
    /// between, and its number reused by another connection; the exchange that is ended here is then over already.
    private func endAbandoned(_ connections: [MicroHTTPDConnection]) {
        let waiting = connections.compactMap(\.waiting)
        for place in Sockets.closedByPeer(waiting.map(\.socket)) {
            let exchange = waiting[place].exchange
            if exchange.isWaitingToSend { exchange.stop(isForced: true) } else { exchange.abandon() }
        }
    }

    /// Ends the thread.
    func stop() { state.update { $0.isStopped = true } }

    /// The open connections.
    var connections: [MicroHTTPDConnection] { state.withLock { Array($0.connections.values) } }

    /// Adds a connection.
    func open(_ connection: MicroHTTPDConnection) {
        state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
    }

    /// Removes a connection that is about to be closed.
    func close(_ connection: MicroHTTPDConnection) {
        connection.close()
        state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    }
}
