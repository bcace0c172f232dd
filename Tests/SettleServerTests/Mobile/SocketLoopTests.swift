import Settle
import SettleHTTP
import SettleMobile
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// The sockets of mobile connections.
@Suite(.timeLimit(.minutes(5))) struct SocketLoopTests {
    private final class Owner: ConnectionOwner {
        let hasEnded = Monitor(false)
        let isBusy = false
        let account = "anna"
        let bytesInMemory = 0
        func receive(_ message: BLIPMessage) {}
        func advance() {}
        func log(_ error: any Error) {}
        func end() { hasEnded.update { $0 = true } }
    }

    private func connect(_ patience: SocketLoop.Patience) throws -> (loop: SocketLoop, owner: Owner, end: Int32) {
        let loop = try #require(SocketLoop(patience: patience, budget: MobileBudget(limit: .max)))
        let (server, client) = try #require(Sockets.pair())
        let owner = Owner()
        let socket = UpgradedSocket(descriptor: server, first: [], peer: "") { Sockets.close(server) }
        let connection = BLIPConnection(isServer: true, limits: BLIPLimits(), handler: { _ in })
        // More than the socket takes; noise, since the rest would be compressed.
        var random = SeededRandom(seed: 1)
        for _ in 0..<100 { connection.send(BLIPMessage(body: random.bytes(50_000))) }
        loop.add(socket, connection, owner)
        return (loop, owner, client)
    }

    @Test func `a client that reads nothing is cut off`() throws {
        let (loop, owner, end) = try connect(SocketLoop.Patience(write: .milliseconds(200)))
        defer { Sockets.close(end) }
        #expect(owner.hasEnded.wait(seconds: 300) { $0 ? true : nil } == true)
        _ = loop
    }

    @Test func `a client that sends nothing is cut off, however much it reads`() async throws {
        let (loop, owner, end) = try connect(SocketLoop.Patience(read: .milliseconds(500)))
        defer { Sockets.close(end) }
        let reader = try SystemThread {
            var room = [UInt8](repeating: 0, count: 65536)
            while read(end, &room, room.count) > 0 {}
        }
        #expect(owner.hasEnded.wait(seconds: 300) { $0 ? true : nil } == true)
        reader.join()
        _ = loop
    }
}
