import Foundation
import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// The least and greatest integers, wherever a request takes a number, against a server in its own process, because an overflow
/// would end the process. `make fuzz-http` sends all of them, a test run a few.
@Suite struct ExtremeFuzzTests {
    @Test(.timeLimit(.minutes(60))) func `no number ends the server, and none causes a server error`() throws {
        let environment = ProcessInfo.processInfo.environment
        let isLong = environment["SETTLE_FUZZ_HTTP"] != nil
        let seed = environment["SETTLE_FUZZ_SEED"].flatMap { Int($0) } ?? 1
        let folder = try TemporaryFolder()
        let served = try ServedFolder(folder)
        try prepare(served)
        let all = ExtremeRequests.all(port: served.port)
        let step = isLong ? 1 : 3
        for request in all.enumerated().filter({ $0.offset % step == seed % step }).map(\.element) {
            let connection = try RawConnection(port: served.port, seconds: 60)
            try connection.write(request.text)
            if request.target.contains("eventsource") || request.target.contains("heartbeat") {
                _ = connection.readWhatComes(first: 50, then: 5)
                continue
            }
            let answer: (head: String, body: [UInt8])
            do { answer = try connection.readAnswer() } catch {
                Issue.record("\(request.method) \(request.target) \(request.body ?? ""): \(error)")
                if !served.isRunning { return }
                continue
            }
            let status = Int(answer.head.dropFirst(9).prefix(3)) ?? 0
            #expect(
                status < 500 || [501, 503].contains(status),
                "\(request.method) \(request.target) \(request.headers) \(request.body ?? ""): \(answer.head) \(String(decoding: answer.body, as: UTF8.self))"
            )
        }
        waitUntil { (try? settled(served)) ?? !served.isRunning }
        #expect(served.isRunning)
    }

    /// Whether all replications of documents have ended, or report that they can't run.
    private func settled(_ served: ServedFolder) throws -> Bool {
        let rows = try served.json("GET", "/_scheduler/docs?limit=1000")["docs"]?.array ?? []
        let states = Set(rows.compactMap { $0["state"]?.string })
        return states.isSubset(of: ["completed", "failed", "error"])
    }

    private func prepare(_ served: ServedFolder) throws {
        for name in ["db", "two"] { _ = try served.ask("PUT", "/\(name)") }
        let views =
            #"{"views":{"v":{"map":"function (d) { emit([d.n, 1], 1) }","reduce":"_count"},"s":{"map":"function (d) { emit(d.n, d.n) }","reduce":"_sum"}}}"#
        _ = try served.ask("PUT", "/db/_design/d", views)
        let attachment = #"{"n":9223372036854775807,"a":[1],"_attachments":{"x":{"data":"aGVsbG8gd29ybGQ="}}}"#
        _ = try served.ask("PUT", "/db/a", attachment)
        for number in ["-9223372036854775808", "0", "1e300", "5"] {
            _ = try served.ask("POST", "/db", #"{"n":\#(number),"a":[1,2]}"#)
        }
    }
}
