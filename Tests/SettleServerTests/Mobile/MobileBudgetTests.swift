import Settle
import SettleHTTP
import SettleMobile
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// The memory of all mobile connections.
@Suite(.timeLimit(.minutes(5))) struct MobileBudgetTests {
    private final class Connection {}

    @Test func `the largest connection of an account that takes more than its part is closed`() {
        let budget = MobileBudget(limit: 400)
        let (small, large, other) = (Connection(), Connection(), Connection())
        func set(_ connection: Connection, _ account: String, _ bytes: Int) -> Connection? {
            let closed = budget.set(ObjectIdentifier(connection), of: account, bytes: bytes)
            return [small, large, other].first { ObjectIdentifier($0) == closed }
        }
        #expect(set(other, "bert", 99) == nil)
        #expect(set(large, "anna", 60) == nil)
        #expect(set(small, "anna", 30) == nil)
        #expect(set(small, "anna", 41) === large)
        #expect(budget.total == 200)
        budget.remove(ObjectIdentifier(large))
        #expect(budget.total == 140)
        #expect(set(small, "anna", 100) == nil && !budget.isTight)
    }

    @Test func `when all connections together take too much, the largest is closed, of any account`() {
        let budget = MobileBudget(limit: 400)
        let connections = (0..<5).map { _ in Connection() }
        for (number, connection) in connections.prefix(4).enumerated() {
            #expect(budget.set(ObjectIdentifier(connection), of: "\(number)", bytes: 90 + number) == nil)
        }
        #expect(budget.isTight && !budget.hasRoom(for: "new", bytes: 50) && budget.hasRoom(for: "new", bytes: 20))
        #expect(!budget.hasRoom(for: "0", bytes: 11))
        let closed = budget.set(ObjectIdentifier(connections[4]), of: "new", bytes: 50)
        #expect(closed == ObjectIdentifier(connections[3]))
    }

    private final class Owner: ConnectionOwner {
        let hasEnded = Monitor(false)
        let isBusy = false
        let account: String
        let bytesInMemory = 0
        init(account: String) { self.account = account }
        func receive(_ message: BLIPMessage) {}
        func advance() {}
        func log(_ error: any Error) {}
        func end() { hasEnded.update { $0 = true } }
    }

    @Test func `clients that don't finish their messages are closed before all take too much`() throws {
        let budget = MobileBudget(limit: 8 << 20)
        let loop = try #require(SocketLoop(budget: budget))
        var ends: [Int32] = []
        var owners: [Owner] = []
        for number in 0..<40 {
            let (server, client) = try #require(Sockets.pair())
            let owner = Owner(account: "\(number % 20)")
            let socket = UpgradedSocket(descriptor: server, first: [], peer: "") { Sockets.close(server) }
            let connection = BLIPConnection(isServer: true, limits: BLIPLimits(), handler: { _ in })
            loop.add(socket, connection, owner)
            ends.append(client)
            owners.append(owner)
        }
        defer { for end in ends { Sockets.close(end) } }
        // One megabyte of a message without an end, from each of them.
        let encoder = BLIPConnection(isServer: false, limits: BLIPLimits(), handler: { _ in })
        encoder.send(BLIPMessage(body: [UInt8](repeating: 7, count: 4 << 20)))
        var frames: [UInt8] = []
        for _ in 0..<62 { if let bytes = try encoder.nextOutput() { frames += bytes } }
        for end in ends {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            var rest = frames[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Sockets.send(end, $0) }
                if count > 0 { rest = rest.dropFirst(count) } else if errno != EAGAIN { break }
            }
            #expect(budget.total <= 9 << 20)
        }
        // Of forty that wanted a megabyte each, eight at most have it.
        waitUntil { owners.count { $0.hasEnded.withLock { $0 } } >= 32 }
        // A connection that is being closed may count for a moment longer.
        waitUntil { budget.total <= 8 << 20 }
    }
}
