import Dispatch
import Foundation
import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Databases that are deleted while other requests use them.
@Suite(.serialized) struct DeleteUnderLoadTests {
    @Test func `deleting and creating a database under load causes no server errors`() throws {
        let folder = try TemporaryFolder()
        let log = try ServerLog(format: .json, events: .file("\(folder.path)/log"))
        let live = try LiveServer { $0.log = log }
        _ = try live.send("PUT", "/db")
        let port = live.port
        let statuses = Guarded<[String: Int]>([:])
        let isOver = Guarded(false)
        let ended = DispatchGroup()
        for number in 0..<6 {
            ended.enter()
            Thread.detachNewThread {
                defer { ended.leave() }
                var count = 0
                while !isOver.withLock({ $0 }), let connection = try? RawConnection(port: port) {
                    for _ in 0..<20 {
                        count += 1
                        let requests = [
                            ("PUT", "/db/d\(number)-\(count)", "{}"), ("GET", "/db/d\(number)-\(count)", nil),
                            ("GET", "/db/_all_docs", nil), ("GET", "/db", nil), ("GET", "/db/_changes", nil),
                        ]
                        let (method, path, body) = requests[count % requests.count]
                        guard (try? connection.write(LiveServer.request(method, path, body))) != nil,
                            let answer = try? connection.readAnswer()
                        else { break }
                        let text =
                            answer.head.dropFirst(9).prefix(3)
                            + (answer.head.hasPrefix("HTTP/1.1 5")
                                ? " \(method) \(path.prefix(5)) " + String(decoding: answer.body, as: UTF8.self) : "")
                        statuses.withLock { $0[String(text), default: 0] += 1 }
                    }
                }
            }
        }
        for _ in 0..<60 {
            let deleted = try live.send("DELETE", "/db")
            #expect(deleted.head.hasPrefix("HTTP/1.1 200"), "\(String(decoding: deleted.body, as: UTF8.self))")
            let made = try live.send("PUT", "/db")
            #expect(made.head.hasPrefix("HTTP/1.1 201"), "\(String(decoding: made.body, as: UTF8.self))")
        }
        isOver.withLock { $0 = true }
        ended.wait()
        let bad = statuses.withLock { $0.filter { $0.key.hasPrefix("5") } }
        live.server.stop()
        // A separate thread writes the log.
        if !bad.isEmpty { log.close() }
        let lines = try String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)
        #expect(bad.isEmpty, "\(bad) \(lines)")
    }

    @Test func `a database that closes slowly blocks no other`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        let busy = try store.create("busy")
        _ = try store.create("other")
        // An open transaction keeps the database from closing.
        let (begun, release, deleted) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            try? busy.transaction {
                begun.signal()
                release.wait()
            }
        }
        begun.wait()
        Thread.detachNewThread {
            try? store.delete("busy")
            deleted.signal()
        }
        waitUntil { busy.isClosed }
        // Another request uses the database while it is being deleted.
        let asked = DispatchSemaphore(value: 0)
        let outcome = Guarded<String>("")
        Thread.detachNewThread {
            do { _ = try store.open("busy") } catch {
                outcome.withLock { $0 = "\((error as? DatabaseError)?.code.name ?? "")" }
            }
            asked.signal()
        }
        let others = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            _ = try? store.open("other")
            _ = try? store.create("new")
            others.signal()
        }
        #expect(others.wait(timeout: .now() + 60) == .success, "other databases wait for the one that is closed")
        release.signal()
        #expect(deleted.wait(timeout: .now() + 300) == .success)
        #expect(asked.wait(timeout: .now() + 300) == .success)
        #expect(outcome.withLock { $0 } == "not_found")
        #expect(try store.names() == ["new", "other"])
    }
}
