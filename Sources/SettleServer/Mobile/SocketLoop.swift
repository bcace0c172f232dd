internal import SettleDatabase
internal import SettleHTTP
internal import SettleMobile
internal import SettlePlatform

/// One thread that reads and writes the sockets of all mobile connections, and blocks on none of them.
///
/// The loop does not read a connection whose messages wait to be handled, so its client has to wait too. It closes
/// a client that reads nothing of waiting output for a minute, or sends nothing for ten minutes. When all clients
/// together exceed the memory budget, the largest is closed at once.
final class SocketLoop: Sendable {
    private final class SocketClient: Sendable {
        let socket: UpgradedSocket
        let connection: BLIPConnection
        let session: any ConnectionOwner

        init(_ socket: UpgradedSocket, _ connection: BLIPConnection, _ session: any ConnectionOwner) {
            (self.socket, self.connection, self.session) = (socket, connection, session)
        }

        func leave() {
            connection.end()
            session.end()
            socket.giveBack()
        }

        /// Identifies the client in the budget.
        var id: ObjectIdentifier { ObjectIdentifier(self) }
    }

    /// The state of a client, used only by the loop's thread.
    private struct Traffic {
        /// Whether the bytes after the upgrade's head were read.
        var hasBegun = false
        var output: [UInt8] = []
        var sent = 0
        var lastRead = ContinuousClock.now
        var lastWrite = ContinuousClock.now
        var lastPing = ContinuousClock.now
        var isEnding = false
        /// The memory that the budget has recorded for this client, in bytes.
        var weight = 0
        /// Whether the client was closed because of its memory.
        var isGone = false
        var hasOutput: Bool { sent < output.count }
    }

    private struct State {
        var arrivals: [SocketClient] = []
        var isRunning = false
    }

    /// The time limits of a client.
    struct Patience: Sendable {
        /// To read a part of the waiting output.
        var write = Duration.seconds(60)
        /// To send anything.
        var read = Duration.seconds(600)
        /// To send anything before it gets a ping.
        var ping = Duration.seconds(240)
    }

    private let patience: Patience
    private let budget: MobileBudget
    private let state = Guarded(State())
    private let bell: SocketBell

    /// Creates a loop; `nil` if the system has no sockets left.
    init?(patience: Patience = Patience(), budget: MobileBudget) {
        (self.patience, self.budget) = (patience, budget)
        guard let bell = SocketBell() else { return nil }
        self.bell = bell
    }

    /// Wakes the thread, because there is something to send.
    func wake() { bell.ring() }

    /// Adds a connection.
    func add(_ socket: UpgradedSocket, _ connection: BLIPConnection, _ session: any ConnectionOwner) {
        _ = fcntl(socket.descriptor, F_SETFL, fcntl(socket.descriptor, F_GETFL) | O_NONBLOCK)
        Sockets.sendAtOnce(socket.descriptor)
        let starts = state.withLock { state in
            state.arrivals.append(SocketClient(socket, connection, session))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return wake() }
        do { try SystemThread.detach { self.run() } } catch {
            // The system has no thread left, so the new connections are closed.
            let arrivals = state.withLock { state in
                state.isRunning = false
                defer { state.arrivals = [] }
                return state.arrivals
            }
            for client in arrivals { client.leave() }
        }
    }

    private func run() {
        var clients: [(client: SocketClient, traffic: Traffic)] = []
        while true {
            let isOver = state.withLock { state in
                for client in state.arrivals { clients.append((client, Traffic())) }
                state.arrivals = []
                if clients.isEmpty { state.isRunning = false }
                return clients.isEmpty
            }
            if isOver { return }
            var polled = [pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)]
            for index in clients.indices {
                fill(&clients[index].traffic, clients[index].client)
                weigh(index, &clients)
            }
            for index in clients.indices {
                var events: Int16 = 0
                if !clients[index].traffic.isEnding, !clients[index].client.session.isBusy { events |= Int16(POLLIN) }
                if clients[index].traffic.hasOutput { events |= Int16(POLLOUT) }
                // A closed client has no socket; the system ignores a negative descriptor.
                let descriptor = clients[index].traffic.isGone ? -1 : clients[index].client.socket.descriptor
                polled.append(pollfd(fd: descriptor, events: events, revents: 0))
            }
            _ = poll(&polled, nfds_t(polled.count), 1000)
            if polled[0].revents != 0 { bell.silence() }
            let now = ContinuousClock.now
            for index in clients.indices where !clients[index].traffic.isGone {
                serve(&clients[index].traffic, clients[index].client, polled[index + 1].revents, now)
                weigh(index, &clients)
            }
            clients.removeAll { entry in
                guard entry.traffic.isEnding, !entry.traffic.hasOutput else { return false }
                budget.remove(entry.client.id)
                if !entry.traffic.isGone { entry.client.leave() }
                return true
            }
        }
    }

    /// Records the memory of a client. Closes the largest client if all together exceed the budget.
    private func weigh(_ index: Int, _ clients: inout [(client: SocketClient, traffic: Traffic)]) {
        let (client, traffic) = clients[index]
        guard !traffic.isGone else { return }
        let bytes = client.connection.bytesInMemory + client.session.bytesInMemory + traffic.output.count
        guard bytes != traffic.weight else { return }
        clients[index].traffic.weight = bytes
        guard let largest = budget.set(client.id, of: client.session.account, bytes: bytes),
            let place = clients.firstIndex(where: { $0.client.id == largest })
        else { return }
        close(&clients[place].traffic, clients[place].client)
    }

    /// Closes a client, which may try again later, and frees its memory at once, because other clients may need it.
    private func close(_ traffic: inout Traffic, _ client: SocketClient) {
        let error = BLIPError.http(503, "the connections take more memory than they may; this is the largest")
        client.session.log(error)
        if !traffic.hasOutput {
            client.connection.close(BLIPConnection.mayPass, reason: error.description)
            if let bytes = try? client.connection.nextOutput() {
                _ = bytes.withUnsafeBytes { Sockets.send(client.socket.descriptor, $0) }
            }
        }
        (traffic.isEnding, traffic.isGone, traffic.output, traffic.sent) = (true, true, [], 0)
        budget.remove(client.id)
        client.leave()
    }

    /// Gets more output after the last was sent.
    private func fill(_ traffic: inout Traffic, _ client: SocketClient) {
        guard !traffic.isGone, !traffic.hasOutput else { return }
        (traffic.output, traffic.sent) = ([], 0)
        do {
            while traffic.output.count < 64 * 1024, let bytes = try client.connection.nextOutput() {
                traffic.output += bytes
            }
        } catch { traffic.isEnding = true }
        if traffic.output.isEmpty, client.connection.hasNoMoreOutput { traffic.isEnding = true }
        if traffic.hasOutput { traffic.lastWrite = .now }
    }

    private func serve(
        _ traffic: inout Traffic, _ client: SocketClient, _ events: Int16, _ now: ContinuousClock.Instant
    ) {
        if !traffic.hasBegun {
            traffic.hasBegun = true
            receive(client.socket.first, client)
        }
        if events & Int16(POLLOUT) != 0 { send(&traffic, client, now) }
        if events & Int16(POLLIN | POLLHUP | POLLERR) != 0, !traffic.isEnding { receive(&traffic, client, now) }
        let isStalled = traffic.hasOutput && now - traffic.lastWrite > patience.write
        if isStalled || now - traffic.lastRead > patience.read { (traffic.isEnding, traffic.output) = (true, []) }
        guard now - traffic.lastRead > patience.ping, now - traffic.lastPing > patience.ping else { return }
        traffic.lastPing = now
        client.connection.ping()
    }

    private func send(_ traffic: inout Traffic, _ client: SocketClient, _ now: ContinuousClock.Instant) {
        let count = traffic.output[traffic.sent...].withUnsafeBytes { Sockets.send(client.socket.descriptor, $0) }
        if count > 0 {
            traffic.sent += count
            traffic.lastWrite = now
            client.session.advance()
        } else if count < 0, errno != EAGAIN, errno != EINTR {
            (traffic.isEnding, traffic.output) = (true, [])
        }
    }

    private func receive(_ bytes: [UInt8], _ client: SocketClient) {
        do { try bytes.withUnsafeBytes { try client.connection.receive($0) } } catch {
            client.session.log(error)
            client.connection.close(for: error)
        }
    }

    private func receive(_ traffic: inout Traffic, _ client: SocketClient, _ now: ContinuousClock.Instant) {
        var room = [UInt8](repeating: 0, count: 32 * 1024)
        let count = read(client.socket.descriptor, &room, room.count)
        // Couchbase Lite sends its next small message only after the last one was acknowledged.
        Sockets.acknowledgeAtOnce(client.socket.descriptor)
        if count > 0 {
            traffic.lastRead = now
            receive(Array(room[..<count]), client)
        } else if count == 0 || errno != EAGAIN && errno != EINTR {
            (traffic.isEnding, traffic.output, traffic.sent) = (true, [], 0)
        }
    }
}

// MARK: - ConnectionOwner

/// Handles the messages of a mobile connection.
protocol ConnectionOwner: AnyObject, Sendable {
    /// Whether reading is paused because too much input is queued.
    var isBusy: Bool { get }

    /// The account of the connection. All connections of one account share a part of the memory.
    var account: String { get }
    /// The bytes of the messages that wait in the owner.
    var bytesInMemory: Int { get }

    /// Receives a request; must not block.
    func receive(_ message: BLIPMessage)

    /// Called when there may be room or reason to send more; must not block.
    func advance()

    /// Logs a violation of the protocol.
    func log(_ error: any Error)

    /// Called when the connection has ended.
    func end()
}

// MARK: - MobileBudget

/// Limits the memory for the messages of all mobile connections. Each account may use a quarter of it.
///
/// A connection's own limits allow it tens of MiB, so a few connections could fill a small machine. When the budget
/// is exceeded, the largest connection is closed: of all, or of an account that exceeds its share. Its client
/// reconnects, and continues from its checkpoint.
final class MobileBudget: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: (account: String, bytes: Int)] = [:]
        var accounts: [String: Int] = [:]
        var total = 0

        mutating func change(_ account: String, by bytes: Int) {
            total += bytes
            let left = (accounts[account] ?? 0) + bytes
            accounts[account] = left > 0 ? left : nil
        }
    }

    private let state = Guarded(State())
    private let limit: Int
    private var share: Int { limit / 4 }

    /// - Parameter limit: The memory of all connections, in bytes.
    init(limit: Int) { self.limit = max(limit, 4) }

    /// The bytes of all connections.
    var total: Int { state.withLock(\.total) }

    /// Whether more than half of the memory is used, so that connections should send in small portions.
    var isTight: Bool { state.withLock { $0.total > limit / 2 } }

    /// Whether an account may use some more bytes for an answer.
    func hasRoom(for account: String, bytes: Int) -> Bool {
        state.withLock { state in
            (state.accounts[account] ?? 0) <= share - bytes && state.total <= limit - bytes
        }
    }

    /// Records the bytes of a connection.
    ///
    /// - Returns: The connection to close, if the budget is exceeded.
    func set(_ connection: ObjectIdentifier, of account: String, bytes: Int) -> ObjectIdentifier? {
        state.withLock { state in
            let old = state.connections.updateValue((account, bytes), forKey: connection)?.bytes ?? 0
            guard old != bytes else { return nil }
            state.change(account, by: bytes - old)
            guard bytes > old else { return nil }
            let isOver = (state.accounts[account] ?? 0) > share
            guard isOver || state.total > limit else { return nil }
            return state.connections.filter { !isOver || $0.value.account == account }
                .max { $0.value.bytes < $1.value.bytes }?.key
        }
    }

    /// Removes a connection.
    func remove(_ connection: ObjectIdentifier) {
        state.withLock { state in
            guard let old = state.connections.removeValue(forKey: connection) else { return }
            state.change(old.account, by: -old.bytes)
        }
    }
}
