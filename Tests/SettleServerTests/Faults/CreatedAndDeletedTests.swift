import Dispatch
import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// A database that some clients create while other clients delete it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CreatedAndDeletedTests {
    @Test func `creating a database that others delete is answered with 201 or 412, and no feed is cut`() throws {
        let live = try LiveServer()
        let port = live.port
        let seen = Guarded<[String: Int]>([:])
        let ended = DispatchGroup()
        func run(_ count: Int, _ name: String, _ request: @escaping @Sendable (RawConnection) throws -> String) {
            ended.enter()
            Thread.detachNewThread {
                defer { ended.leave() }
                for _ in 0..<count {
                    let result = Result { try request(RawConnection(port: port)) }
                    let text = (try? result.get()) ?? "\(result)"
                    seen.withLock { $0["\(name) \(text)", default: 0] += 1 }
                }
            }
        }
        func status(_ method: String) -> @Sendable (RawConnection) throws -> String {
            { connection in
                try connection.write(LiveServer.request(method, "/race"))
                return String(try connection.readAnswer().head.dropFirst(9).prefix(3))
            }
        }
        for _ in 0..<3 { run(100, "PUT", status("PUT")) }
        for _ in 0..<2 { run(100, "DELETE", status("DELETE")) }
        for _ in 0..<2 {
            run(100, "feed") { connection in
                try connection.write(LiveServer.request("GET", "/race/_changes"))
                let head = try connection.read(through: "\r\n\r\n")
                if head.hasPrefix("HTTP/1.1 200") { _ = try connection.read(through: "0\r\n\r\n") }
                return String(head.dropFirst(9).prefix(3))
            }
        }
        ended.wait()
        let allowed: Set = [
            "PUT 201", "PUT 412", "DELETE 200", "DELETE 404", "feed 200", "feed 404",
        ]
        let all = seen.withLock(\.self)
        #expect(Set(all.keys).isSubset(of: allowed), "\(all)")
        #expect(all["PUT 201", default: 0] > 0 && all["DELETE 200", default: 0] > 0, "\(all)")
    }

    @Test(arguments: [("continuous", "no"), ("eventsource", "no"), ("longpoll", "no"), ("normal", nil)])
    func `a feed that waits tells proxies not to buffer it`(feed: String, buffering: String?) throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        try connection.write(LiveServer.request("GET", "/db/_changes?feed=\(feed)"))
        let head = try connection.read(through: "\r\n\r\n").lowercased()
        #expect(head.contains("x-accel-buffering: no") == (buffering != nil))
    }
}
