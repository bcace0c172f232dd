import Dispatch
import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// What a server answers while it stops, and that its process then ends with status 0, without a signal.
@Suite(.serialized, .timeLimit(.minutes(30))) struct StoppingTests {
    @Test func `a closed gate lets no request in and empties`() {
        let gate = RequestGate()
        #expect(gate.enter() && gate.enter() && !gate.isClosed)
        gate.close()
        #expect(gate.isClosed && !gate.enter())
        gate.leave()
        #expect(!gate.waitUntilEmpty(seconds: 0))
        gate.leave()
        #expect(gate.waitUntilEmpty(seconds: 0) && !gate.enter() && gate.waitUntilEmpty(seconds: 0))
    }

    @Test func `requests on open connections are refused once the server stops, and what had begun is answered`() throws
    {
        let live = try LiveServer { $0.stopTimeout = .seconds(600) }
        _ = try live.send("PUT", "/db")
        let names = ["/_up", "/db/late", "/db", "/db/_changes?feed=continuous"]
        let open = try names.map { _ in
            let connection = try live.connect()
            try connection.write(LiveServer.request("GET", "/_up"))
            #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 200"))
            return connection
        }
        let (big, bulky) = (try live.connect(), try live.connect())
        for connection in [big, bulky] {
            try connection.write(LiveServer.request("GET", "/_up"))
            _ = try connection.readAnswer()
        }
        let (upload, feed) = (try live.connect(), try live.connect())
        waitUntil { live.server.load.requests == 0 }
        try upload.write(
            "PUT /db/a/x HTTP/1.1\r\nHost: test\r\nContent-Type: image/x\r\nContent-Length: 2000000\r\n\r\n")
        try upload.write([UInt8](repeating: 120, count: 1_900_000))
        try feed.write(LiveServer.request("GET", "/db/_changes?feed=continuous&heartbeat=60000"))
        _ = try feed.read(through: "\r\n\r\n")
        waitUntil { live.server.load.requests == 2 }
        let stopped = DispatchGroup()
        let server = live.server
        DispatchQueue.global().async(group: stopped) { server.stop() }
        let port = upload.port
        waitUntil { (try? RawConnection(port: port)) == nil }
        for (connection, path) in zip(open, names) {
            let isPut = path == "/db/late"
            try connection.write(LiveServer.request(isPut ? "PUT" : "GET", path, isPut ? "{}" : nil))
            let (head, body) = try connection.readAnswer()
            #expect(head.hasPrefix("HTTP/1.1 503") && head.lowercased().contains("connection: close"))
            let members = try JSONValue(utf8: body)
            #expect(members["status"] == (path == "/_up" ? "unavailable" : nil))
            #expect(members["error"] == (path == "/_up" ? nil : "service_unavailable"))
            #expect(try connection.readToEnd().isEmpty)
        }
        try big.write(
            "PUT /db/big HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n")
        #expect(try big.readAnswer().head.hasPrefix("HTTP/1.1 503"))
        try bulky.write(LiveServer.request("PUT", "/db/bulky", "{\"x\":\"\(String(repeating: "x", count: 900_000))\"}"))
        #expect(try bulky.readAnswer().head.hasPrefix("HTTP/1.1 503"))
        #expect(try feed.read(through: "0\r\n\r\n").contains("\"last_seq\""))
        #expect(stopped.wait(timeout: .now()) == .timedOut)
        try upload.write([UInt8](repeating: 120, count: 100_000))
        let head = try upload.readAnswer().head
        #expect(head.hasPrefix("HTTP/1.1 201") && head.lowercased().contains("connection: close"))
        #expect(stopped.wait(timeout: .now() + 300) == .success)
        let database = try DocumentStore(path: live.folder.path).open("db")
        #expect(try database.document("a") != nil)
        for id in ["late", "big", "bulky"] { #expect(try database.document(DocumentID(id)) == nil) }
    }

    /// More rounds by the variable `SETTLE_STOP_ROUNDS`.
    @Test func `a busy server with slow clients ends with status 0 within its time, and has all that it acknowledged`()
        throws
    {
        let folder = try TemporaryFolder()
        let rounds = ProcessInfo.processInfo.environment["SETTLE_STOP_ROUNDS"].flatMap { Int($0) } ?? 4
        var acknowledged = 0
        for round in 0..<rounds {
            let served = try ServedFolder(folder, ["SETTLE_STOP_TIMEOUT": "2"])
            if round == 0 {
                #expect(try served.ask("PUT", "/db").hasPrefix("HTTP/1.1 201"))
                let large = "{\"x\":\"\(String(repeating: "x", count: 6_000_000))\"}"
                #expect(try served.ask("PUT", "/db/large", large).hasPrefix("HTTP/1.1 201"))
                acknowledged += 1
            }
            #expect(try served.json("GET", "/db")["doc_count"]?.int ?? 0 >= acknowledged)
            let crowd = StoppingCrowd(port: served.port, round: round)
            #expect(crowd.waitUntilBusy())
            let start = ContinuousClock.now
            let status = served.terminate()
            let time = ContinuousClock.now - start
            acknowledged += crowd.finish()
            #expect(status == 0, "round \(round)")
            // The requests of the crowd would go on for longer.
            #expect(time < .seconds(300), "round \(round)")
            #expect(crowd.problems == [], "round \(round)")
            guard status == 0 else { return }
        }
        let served = try ServedFolder(folder)
        #expect(try served.json("GET", "/db")["doc_count"]?.int ?? 0 >= acknowledged)
    }
}

/// Clients of all kinds on threads of their own: writers that keep their connection and send the next request at once, slow
/// uploads, slow readers, feeds, and WebSockets.
private final class StoppingCrowd: Sendable {
    private struct State {
        var begun = 0
        var acknowledged = 0
        var problems: [String] = []
    }

    private let state = Guarded(State())
    private let clients = DispatchGroup()
    private let isOver = Promise<Bool>()
    private static let writers = 12
    private static let others = 4
    private let count = writers + 4 * others

    init(port: Int, round: Int) {
        for number in 0..<Self.writers { start { try self.write(port, "\(round)-\(number)") } }
        for number in 0..<Self.others {
            start { try self.upload(port, "\(round)-\(number)") }
            start { try self.follow(port) }
            start { try self.read(port) }
            start { try self.connect(port) }
        }
    }

    /// Answers that no client should get.
    var problems: [String] { state.withLock { $0.problems } }

    /// Waits until each client has a request under way.
    func waitUntilBusy() -> Bool {
        waitUntil { state.withLock { $0.begun == count } }
        return state.withLock { $0.begun == count }
    }

    /// Waits until all clients have ended, after the server has.
    ///
    /// - Returns: The number of acknowledged new documents.
    func finish() -> Int {
        isOver.fulfil(true)
        clients.wait()
        return state.withLock { $0.acknowledged }
    }

    private func start(_ body: @escaping @Sendable () throws -> Void) {
        clients.enter()
        // A connection that ends with an error is one that was cut.
        Thread.detachNewThread { [clients] in
            try? body()
            clients.leave()
        }
    }

    private func begin() { state.withLock { $0.begun += 1 } }

    private func write(_ port: Int, _ name: String) throws {
        let connection = try RawConnection(port: port)
        for number in 0... {
            try connection.write(LiveServer.request("PUT", "/db/w-\(name)-\(number)", "{}"))
            let head = try connection.readAnswer().head
            let closes = head.lowercased().contains("connection: close")
            if head.hasPrefix("HTTP/1.1 201") {
                state.withLock { $0.acknowledged += 1 }
                if number == 0 { begin() }
            } else if !head.hasPrefix("HTTP/1.1 503") || !closes {
                state.withLock { $0.problems.append(head) }
            }
            if closes { return }
        }
    }

    private func upload(_ port: Int, _ name: String) throws {
        let connection = try RawConnection(port: port)
        try connection.write(
            "PUT /db/u-\(name)/x HTTP/1.1\r\nHost: test\r\nContent-Type: image/x\r\nContent-Length: 90000000\r\n\r\n")
        try connection.write([UInt8](repeating: 120, count: 1_500_000))
        begin()
        while true {
            // A slow client: 200 kilobytes in a second.
            try connection.write([UInt8](repeating: 120, count: 4000))
            usleep(20_000)
        }
    }

    private func follow(_ port: Int) throws {
        let connection = try RawConnection(port: port)
        try connection.write(LiveServer.request("GET", "/db/_changes?feed=continuous&since=now&heartbeat=1000"))
        _ = try connection.read(through: "\r\n\r\n")
        begin()
        _ = try connection.readToEnd()
    }

    private func read(_ port: Int) throws {
        let connection = try RawConnection(port: port)
        try connection.write(LiveServer.request("GET", "/db/large"))
        _ = try connection.read(through: "\r\n\r\n")
        begin()
        // The end comes after bytes that were not read, so the client would not notice it.
        _ = isOver.wait()
        withExtendedLifetime(connection) {}
    }

    private func connect(_ port: Int) throws {
        let connection = try RawConnection(port: port)
        try connection.write(
            """
            GET /db/_blipsync HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
            Sec-WebSocket-Protocol: BLIP_3+CBMobile_2\r\n\r\n
            """)
        let head = try connection.read(through: "\r\n\r\n")
        if !head.hasPrefix("HTTP/1.1 101") { state.withLock { $0.problems.append(head) } }
        begin()
        _ = try connection.readToEnd()
    }
}
