import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// A proxy releases all its resources, whatever faults it caused.
@Suite(.timeLimit(.minutes(5))) struct FaultProxyLifeTests {
    /// Counts the open files and threads of a separate process, because other tests would change those of this one.
    private static func counts() throws -> (files: Int, threads: Int) {
        let folder = FileManager.default.fileExists(atPath: "/proc/self/fd") ? "/proc/self/fd" : "/dev/fd"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
        return (try FileManager.default.contentsOfDirectory(atPath: folder).count, threads)
    }

    /// Two proxies in a row and clients in every state; the second answers itself, so no other process has files open.
    private static func round(_ number: Int) throws {
        let silent = FaultPlan.always(.silence(.seconds(500))).only(on: "silent")
        let back = try FaultProxy(
            to: 1, plan: silent.otherwise(.always(.answer(status: 503, retryAfter: nil, body: .couchDB))))
        let pauses: [Fault] = [.delay(.seconds(500)), .drip(first: 9, pause: .seconds(500)), .refuse(.seconds(500))]
        let front = try FaultProxy(to: back.port, plan: .script([.none, .duplicate, pauses[number % 3]]))
        let paths = ["/", "/", "/", "/silent", "/"]
        for path in paths + paths {
            let client = try? RawConnection(port: front.port)
            try? client?.write(LiveServer.request("GET", path))
            let isHeard = client?.readWhatComes(first: path == "/" ? 100 : 0, then: 0).bytes.isEmpty == false
            if number % 2 == 0, isHeard { client?.abort() }
        }
        var open = (0..<3).compactMap { _ in try? RawConnection(port: front.port) }
        if number % 2 == 0 { open.removeAll() }
        // Stopped in any order, twice, or only released.
        if number % 3 == 0 { back.stop() }
        if number % 3 != 1 { front.stop() }
        withExtendedLifetime((front, back, open)) {}
    }

    @Test func `connections and threads end with the proxy`() async {
        await #expect(processExitsWith: .success) {
            try FaultProxyLifeTests.round(0)
            let before = try FaultProxyLifeTests.counts()
            for number in 0..<12 { try FaultProxyLifeTests.round(number) }
            let after = try FaultProxyLifeTests.counts()
            #expect(after.files <= before.files)
            // A joined thread may stay in the system's list for a moment.
            waitUntil { (try? FaultProxyLifeTests.counts()).map { $0.threads <= before.threads } == true }
        }
    }

    @Test func `ended connections use no resources while the proxy runs`() async {
        await #expect(processExitsWith: .success) {
            let live = try LiveServer()
            _ = try live.send("PUT", "/db")
            let proxy = try FaultProxy(to: live.port, plan: .random(seed: 3, rate: 0.5, longestPause: .milliseconds(1)))
            func crowd() throws -> (files: Int, threads: Int) {
                for number in 0..<200 {
                    let client = try? RawConnection(port: proxy.port)
                    try? client?.write(LiveServer.request("PUT", "/db/d\(number)", "{}"))
                    _ = client?.readWhatComes(first: 100, then: 0)
                }
                waitUntil { live.server.load == (0, 0) }
                waitUntil { proxy.records.allSatisfy(\.isFinished) }
                return try FaultProxyLifeTests.counts()
            }
            let before = try crowd()
            _ = try crowd()
            waitUntil { (try? FaultProxyLifeTests.counts()).map { $0.files <= before.files + 20 } == true }
            waitUntil { (try? FaultProxyLifeTests.counts()).map { $0.threads <= before.threads + 20 } == true }
        }
    }

    @Test func `a proxy ends after its lifetime`() throws {
        let live = try LiveServer()
        let proxy = try FaultProxy(to: live.port, lifetime: .milliseconds(100))
        waitUntil { (try? RawConnection(port: proxy.port)) == nil }
        try proxy.comeUp()
        #expect(throws: RawConnection.Failure.self) { try RawConnection(port: proxy.port) }
    }

    @Test func `a stopped proxy stays stopped`() throws {
        let faulty = try FaultyServer()
        let connection = try faulty.begin("GET", "/db")
        _ = try connection.readAnswer()
        for _ in 0..<2 { faulty.proxy.stop() }
        #expect(connection.readToEnding().ending != nil)
        try faulty.proxy.comeUp()
        #expect(throws: RawConnection.Failure.self) { try faulty.connect() }
        #expect(faulty.proxy.records.count == 1)
    }

    @Test func `a client waits for a connection when all are in use`() throws {
        let live = try LiveServer()
        let proxy = try FaultProxy(to: live.port, connectionLimit: 2)
        var first: [RawConnection] = try (0..<2).map { _ in try RawConnection(port: proxy.port) }
        for connection in first {
            try connection.write(LiveServer.request("GET", "/"))
            _ = try connection.readAnswer()
        }
        let third = try RawConnection(port: proxy.port)
        try third.write(LiveServer.request("GET", "/"))
        #expect(third.readWhatComes(first: 100, then: 0).bytes.isEmpty)
        first.removeLast()
        #expect(try third.readAnswer().head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `a thousand random requests under random faults leave proxy and server up`() throws {
        let faulty = try FaultyServer { $0.security.lockoutThreshold = 0 }
        var weights = FaultPlan.usualWeights
        weights[.flipBit] = 2
        faulty.proxy.follow(.random(seed: 11, rate: 0.6, weights: weights, longestPause: .milliseconds(5)))
        var statuses: Set<String> = []
        for seed in 0..<1000 as Range<UInt64> {
            var maker = RequestMaker(seed: seed)
            var reached = try? faulty.connect()
            if reached == nil {
                waitUntil("the proxy is up again") {
                    reached = try? faulty.connect()
                    return reached != nil
                }
            }
            let connection = try #require(reached)
            try? connection.write(maker.next())
            if seed % 3 == 0 { connection.finishSending() }
            let (answer, _) = connection.readWhatComes(first: seed % 3 == 0 ? 10_000 : 50, then: 5)
            statuses.insert(String(decoding: answer.prefix(12), as: UTF8.self))
            if seed % 7 == 0 { connection.abort() }
        }
        let report = faulty.proxy.report
        #expect(statuses.contains("HTTP/1.1 200") && statuses.count > 10, "\(statuses) \(report)")
        let seen = faulty.proxy.statistic
        for kind in Fault.Kind.allCases { #expect((seen[kind] ?? 0) > 0, "\(kind) in \(seen)") }
        faulty.proxy.follow(.none)
        waitUntil { (try? faulty.begin("GET", "/").readAnswer().head.hasPrefix("HTTP/1.1 200")) == true }
        #expect(try faulty.live.send("GET", "/").head.hasPrefix("HTTP/1.1 200"))
        waitUntil { faulty.proxy.records.allSatisfy(\.isFinished) }
        waitUntil { faulty.live.server.load == (0, 0) }
    }
}
