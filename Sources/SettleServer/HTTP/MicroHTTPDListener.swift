internal import CMicroHTTPD
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// HTTP by libmicrohttpd: a few polling threads, and workers for handlers.
///
/// Known traps (docs/decisions/0015-http-by-libmicrohttpd.md): use `poll`, never `epoll`; a suspended connection
/// does not notice that its client has disconnected (``ConnectionWatch`` does); the daemon must not be stopped
/// while a connection is suspended.
final class MicroHTTPDListener: HTTPListener {
    let port: Int
    private let pools: WorkerPools
    private let watch: ConnectionWatch
    private let watchers = WorkerPool(limit: 1)
    private let state: Monitor<MicroHTTPDRegistrar.State>
    private let gate = RequestGate()
    private let context: Unmanaged<MicroHTTPDRegistrar>
    /// The daemon reads it as long as it runs.
    private let certificate: PEMText?

    /// Begins to listen.
    ///
    /// - Throws: ``ListenerError`` for an invalid address, or one that is in use. An inherited socket is then
    ///   closed.
    init(_ options: ListenerOptions, handler: HTTPHandler) throws {
        signal(SIGPIPE, SIG_IGN)
        let inherited = options.inherited.flatMap(InheritedSocket.init)
        let address: SocketAddress
        do { address = try SocketAddress(host: options.host, port: options.port) } catch {
            inherited?.closeIfOpen()
            throw error
        }
        pools = WorkerPools(
            workers: WorkerPool(limit: options.workers), uploads: WorkerPool(limit: options.uploads),
            feeds: WorkerPool(limit: options.feedThreads))
        state = Monitor(MicroHTTPDRegistrar.State())
        errno = 0
        watch = ConnectionWatch(limit: options.idleTimeout)
        let registrar = MicroHTTPDRegistrar(
            options: options, pools: pools, handler: handler, state: state, gate: gate, watch: watch)
        context = Unmanaged.passRetained(registrar)
        var settings = settle_mhd_options()
        settings.is_ipv6 = address.isIPv6 ? 1 : 0
        settings.listening_socket = options.inherited ?? -1
        settings.threads = UInt32(min(4, max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        settings.connection_limit = UInt32(clamping: options.connectionLimit)
        settings.connection_timeout_seconds = UInt32(clamping: options.idleTimeout)
        settings.connection_memory_limit = options.headerLimit
        settings.handler_context = context.toOpaque()
        settings.handler = handleRequest
        settings.begin = beginRequest
        settings.completed = completeRequest
        settings.notified = noticeConnection
        certificate = options.certificate.map { PEMText(key: $0.key, chain: $0.chain) }
        settings.key = certificate?.key
        settings.certificate = certificate?.chain
        let daemon = address.withPointer { pointer in
            settings.address = pointer
            return settle_mhd_start(&settings)
        }
        guard let daemon else {
            // The calls below may change errno.
            let number = errno
            inherited?.closeIfOpen()
            context.release()
            pools.close()
            throw ListenerError(
                description: "can't listen on \(options.host) port \(options.port): "
                    + Self.reason(number, options.certificate))
        }
        port = Int(settle_mhd_port(daemon))
        let lent = Lent(daemon)
        state.update { $0.daemon = lent }
        watch.start(on: watchers)
    }

    /// The reason why the library could not start, with advice.
    private static func reason(_ number: Int32, _ certificate: Certificate?) -> String {
        if number == EADDRINUSE { return "another program listens there already; stop it, or choose another port" }
        return certificate?.problem ?? String(cString: strerror(number))
    }

    /// The number of connections, and of requests that are not completed.
    var load: (connections: Int, requests: Int) {
        state.withLock { state in
            (state.daemon.map { Int(settle_mhd_connections($0.value)) } ?? 0, state.requests)
        }
    }

    func copySocket() throws -> Int32 {
        let copy = state.withLock { state -> Int32? in
            // After the socket was closed, its number may belong to another file.
            guard !state.isQuiesced, let daemon = state.daemon?.value else { return nil }
            return fcntl(settle_mhd_listening_socket(daemon), F_DUPFD_CLOEXEC, 0)
        }
        guard let copy else { throw ListenerError(description: "the server does not listen") }
        guard copy >= 0 else {
            throw ListenerError(description: "can't copy the socket: \(String(cString: strerror(errno)))")
        }
        return copy
    }

    func retire() {
        gate.leaveSoon()
        quiesce(endsSocket: false)
    }

    func drain() {
        let isFirst = state.update { state -> Bool in
            defer { state.isDraining = true }
            return !state.isDraining && state.daemon != nil
        }
        guard isFirst else { return }
        gate.close()
        quiesce(endsSocket: true)
        // A stream that begins later checks whether the listener is stopping.
        for connection in watch.connections { connection.exchange?.stop(isForced: false) }
    }

    /// Stops accepting connections, and closes the socket once: the library returns the same number at each call.
    ///
    /// - Parameter endsSocket: Whether the socket does not listen any more even if somebody has it still: a thread
    ///   that waits for it, or a process that this one is starting. Otherwise the next listener has it.
    private func quiesce(endsSocket: Bool) {
        state.withLock { state in
            guard !state.isQuiesced, let daemon = state.daemon?.value else { return }
            state.isQuiesced = true
            let socket = MHD_quiesce_daemon(daemon)
            guard socket >= 0 else { return }
            if endsSocket { shutdown(socket, Int32(SHUT_RDWR)) }
            close(socket)
        }
    }

    func stop(within seconds: Double) {
        drain()
        let running = state.update { state in
            defer { state.daemon = nil }
            return state.daemon
        }
        guard let daemon = running?.value else { return }
        var isEmpty = gate.waitUntilEmpty(seconds: seconds)
        for _ in 0..<Self.cuts where !isEmpty {
            for connection in watch.connections { connection.cut() }
            isEmpty = gate.waitUntilEmpty(seconds: 0.05)
        }
        // The last refusals may still be on their way to clients.
        _ = state.wait(seconds: 0.1) { $0.requests == 0 ? true : nil }
        watch.stop()
        watchers.close()
        pools.close()
        // If a connection is still suspended, the library would end the process, so its threads are left
        // running.
        guard isEmpty else { return }
        MHD_stop_daemon(daemon)
        context.release()
    }

    /// The number of attempts to cut requests off. They take a second in total, which is enough unless a polling
    /// thread hangs.
    private static let cuts = 20

    deinit { stop(within: 0) }
}

/// A socket that was passed in. If the library can't start, it closes the socket in some cases only.
private struct InheritedSocket {
    private let descriptor: Int32
    private let identity: [UInt64]

    /// Records the identity of a socket; `nil` if the descriptor is not open.
    init?(_ descriptor: Int32) {
        guard let identity = Self.identity(of: descriptor) else { return nil }
        (self.descriptor, self.identity) = (descriptor, identity)
    }

    /// Closes the socket, unless it is closed already and the descriptor is unused or belongs to another file.
    func closeIfOpen() {
        if Self.identity(of: descriptor) == identity { close(descriptor) }
    }

    private static func identity(of descriptor: Int32) -> [UInt64]? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
    }
}

/// Called when the library has read a request's first line. The result becomes the request's own pointer.
private func beginRequest(
    _ context: UnsafeMutableRawPointer?, _ text: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let text, let connection, let own = settle_mhd_own(connection) else { return nil }
    let registrar = Unmanaged<MicroHTTPDRegistrar>.fromOpaque(context).takeUnretainedValue()
    let known = Unmanaged<MicroHTTPDConnection>.fromOpaque(own).takeUnretainedValue()
    return Unmanaged.passRetained(registrar.begin(connection, of: known, escapedTarget(text))).toOpaque()
}

/// The target in a request's first line, with bytes beyond ASCII escaped, as in any URL. Otherwise those that are not
/// UTF-8 would be repaired here, and two names could become one.
private func escapedTarget(_ text: UnsafePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
    guard bytes.contains(where: { $0 >= 0x80 }) else { return String(decoding: bytes, as: UTF8.self) }
    return bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "%" + Hexadecimal.encode([$0]) }.joined()
}

/// Called when the library has a header, a piece of a body, or the end of one.
private func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ body: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let pointer = own?.pointee, let method, let count else { return .NO }
    let exchange = Unmanaged<MicroHTTPDExchange>.fromOpaque(pointer).takeUnretainedValue()
    if let goesOn = exchange.begin(method: method, version: version) { return goesOn ? .YES : .NO }
    guard count.pointee > 0, let body else { return exchange.answerIfReady() ? .YES : .NO }
    let isTaken = body.withMemoryRebound(to: UInt8.self, capacity: count.pointee) {
        exchange.receive(UnsafeBufferPointer(start: $0, count: count.pointee))
    }
    guard let isTaken else { return .NO }
    if isTaken { count.pointee = 0 }
    return .YES
}

/// Called when the library is done with a request.
private func completeRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let context, let connection, let pointer = own?.pointee, let known = settle_mhd_own(connection) else {
        return
    }
    own?.pointee = nil
    let registrar = Unmanaged<MicroHTTPDRegistrar>.fromOpaque(context).takeUnretainedValue()
    let exchange = Unmanaged<MicroHTTPDExchange>.fromOpaque(pointer).takeRetainedValue()
    let owner = Unmanaged<MicroHTTPDConnection>.fromOpaque(known).takeUnretainedValue()
    registrar.complete(exchange, of: owner, isCut: code.rawValue != 0)
}

/// Called when the library has accepted a connection, which gets its own object here, or is about to close one.
private func noticeConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let own else { return }
    let registrar = Unmanaged<MicroHTTPDRegistrar>.fromOpaque(context).takeUnretainedValue()
    if code == .CONNECTION_NOTIFY_STARTED {
        let known = MicroHTTPDConnection(connection)
        own.pointee = Unmanaged.passRetained(known).toOpaque()
        registrar.watch.open(known)
    } else if let pointer = own.pointee {
        own.pointee = nil
        registrar.watch.close(Unmanaged<MicroHTTPDConnection>.fromOpaque(pointer).takeRetainedValue())
    }
}

// MARK: - MicroHTTPDRegistrar

/// The state that the library's callbacks share: the handler, and the requests that are not completed.
final class MicroHTTPDRegistrar: Sendable {
    struct State {
        var daemon: Lent<OpaquePointer>?
        /// The number of requests that are not completed.
        var requests = 0
        /// Whether the listener has begun to stop.
        var isDraining = false
        /// Whether the library has given back the listening socket, which is then closed.
        var isQuiesced = false
    }

    private let options: ListenerOptions
    private let pools: WorkerPools
    private let handler: HTTPHandler
    private let state: Monitor<State>
    private let gate: RequestGate
    let watch: ConnectionWatch

    init(
        options: ListenerOptions, pools: WorkerPools, handler: HTTPHandler, state: Monitor<State>,
        gate: RequestGate, watch: ConnectionWatch
    ) {
        self.gate = gate
        self.watch = watch
        self.options = options
        self.pools = pools
        self.handler = handler
        self.state = state
    }

    /// Creates the exchange of a request when the first line was read.
    func begin(_ pointer: OpaquePointer, of connection: MicroHTTPDConnection, _ text: String) -> MicroHTTPDExchange {
        let exchange = MicroHTTPDExchange(
            pointer, peer: connection.peer, target: RequestTarget(text, plusIsBlank: options.plusIsBlank()),
            options: options, pools: pools, handler: handler, gate: gate)
        state.withLock { $0.requests += 1 }
        connection.set(exchange)
        return exchange
    }

    /// Removes an exchange that is over.
    func complete(_ exchange: MicroHTTPDExchange, of connection: MicroHTTPDConnection, isCut: Bool) {
        exchange.complete(isCut: isCut)
        connection.set(nil)
        state.update { $0.requests -= 1 }
    }
}

// MARK: - RequestGate

/// Counts the requests that a listener is answering. A closed gate lets no further request in.
///
///     open ── enter, leave, enter … ── close() ──→ closed ── leave … leave ──→ empty, and stays so
///
/// The listener relies on this: a request that did not get in never suspends its connection. So when the gate is
/// closed and empty, no connection is suspended, now or later.
final class RequestGate: Sendable {
    private struct State {
        var isClosed = false
        var isLeaving = false
        var inside = 0
    }

    private let state = Monitor(State())

    /// Whether the gate is closed.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether responses must close their connections, because the gate is closed or will be soon.
    var isLeaving: Bool { state.withLock { $0.isClosed || $0.isLeaving } }

    /// Makes further responses close their connections.
    func leaveSoon() { state.withLock { $0.isLeaving = true } }

    /// Lets a request in. The caller has to call ``leave()`` when the request is over.
    ///
    /// - Returns: False if the gate is closed; then the request is not counted.
    func enter() -> Bool {
        state.withLock { state in
            if !state.isClosed { state.inside += 1 }
            return !state.isClosed
        }
    }

    /// Takes out a request that was let in.
    func leave() { state.update { $0.inside -= 1 } }

    /// Closes the gate permanently.
    func close() { state.update { $0.isClosed = true } }

    /// Waits until all requests have left.
    ///
    /// - Returns: Whether they have left within that time.
    func waitUntilEmpty(seconds: Double) -> Bool {
        state.wait(seconds: seconds) { $0.inside == 0 ? true : nil } ?? false
    }
}

// MARK: - PEMText

/// A key and a certificate as C strings with stable addresses. The key is wiped when the object is deallocated.
///
/// Unchecked: it needs no lock, because it is immutable between `init` and `deinit`.
final class PEMText: @unchecked Sendable {
    let key: UnsafePointer<CChar>?
    let chain: UnsafePointer<CChar>?

    init(key: String, chain: String) {
        self.key = UnsafePointer(strdup(key))
        self.chain = UnsafePointer(strdup(chain))
    }

    deinit {
        if let key {
            let bytes = UnsafeMutablePointer(mutating: key)
            memset(bytes, 0, strlen(bytes))
            free(bytes)
        }
        free(UnsafeMutablePointer(mutating: chain))
    }
}
