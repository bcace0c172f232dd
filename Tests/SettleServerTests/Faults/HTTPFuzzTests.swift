import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Malformed requests against a listening server. `make fuzz-http` sends more of them than a test run.
@Suite struct HTTPFuzzTests {
    /// The expected statuses of the 500s: not implemented, unavailable, and an unknown version of HTTP.
    private static let meant = ["501", "503", "505"]

    @Test(.timeLimit(.minutes(60)))
    func `after any bytes the server keeps answering, without errors or leaked connections`() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["SETTLE_FUZZ_HTTP"].flatMap { Int($0) } ?? 3000
        let first = environment["SETTLE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
        if count > 3000 { print("fuzzing HTTP with \(count) seeds from \(first)") }
        let live = try LiveServer { $0.security.lockoutThreshold = 0 }
        var statuses: [String: Int] = [:]
        for offset in 0..<count {
            let seed = first &+ UInt64(offset)
            if offset % 500 == 0 { try renew(live) }
            var maker = RequestMaker(seed: seed)
            let input = maker.next()
            let connection = try live.connect()
            try? connection.write(input)
            // One client in three half-closes, one hardly waits, and one waits a little.
            let isHalfClosed = seed % 3 == 0
            if isHalfClosed { connection.finishSending() }
            let patience: Int32 = isHalfClosed ? 300_000 : seed % 3 == 1 ? 2 : 50
            let (answer, hasEnded) = connection.readWhatComes(first: patience, then: 5)
            if seed % 7 == 0 { connection.abort() }
            #expect(hasEnded || !answer.isEmpty || !isHalfClosed, "no answer and no end: seed \(seed)")
            let text = String(decoding: answer, as: UTF8.self)
            for line in text.split(separator: "\r\n") where line.hasPrefix("HTTP/1.1 ") {
                let status = String(line.dropFirst(9).prefix(3))
                statuses[status, default: 0] += 1
                #expect(!status.hasPrefix("5") || Self.meant.contains(status), "seed \(seed): \(text)")
            }
        }
        #expect(try live.send("GET", "/").head.hasPrefix("HTTP/1.1 200"))
        waitUntil { live.server.load == (0, 0) }
        #expect(live.server.load == (0, 0))
        // Enough requests are valid: the server counts them, since a client that hardly waits reads no answer of a slow one.
        let counts = try JSONValue(utf8: live.send("GET", "/_node/_local/_stats/couchdb/httpd_status_codes").body)
        func answers(_ status: String) -> Int { counts[status]?["value"]?.int ?? 0 }
        #expect(answers("200") > count / 100 && answers("201") > count / 300, "\(counts)")
        if count > 3000 { print("statuses: \(statuses.sorted { $0.key < $1.key })") }
    }

    /// Deletes everything created, and creates the database that the requests use.
    private func renew(_ live: LiveServer) throws {
        let names = try JSONValue(utf8: live.send("GET", "/_all_dbs").body).array?.compactMap(\.string) ?? []
        for name in names where !name.hasPrefix("_") { _ = try live.send("DELETE", "/\(PercentCoding.encode(name))") }
        _ = try live.send("PUT", "/db")
    }
}
