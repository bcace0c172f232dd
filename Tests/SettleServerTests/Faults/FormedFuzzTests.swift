import Foundation
import Settle
import SettleHTTP
import SettlePlatform
import SettleScripting
import SettleTesting
import Testing

@testable import SettleServer

/// Nearly valid requests of an administrator, a member and an anonymous client, against a listening server.
/// `make fuzz-http` sends more of them than a test run.
@Suite struct FormedFuzzTests {
    /// The expected statuses of the 500s: not implemented, unavailable, and an unknown version of HTTP.
    private static let meant = [501, 503, 505]

    @Test func `the forms cover all routes`() {
        let targets = RequestForm.all.map { RequestTarget($0.path).segments }
        for (index, route) in RoutingTable.routes.enumerated() {
            #expect(targets.contains { route.pattern.match($0) != nil }, "route \(index), which allows \(route.allow)")
        }
    }

    @Test(.timeLimit(.minutes(120)))
    func `to nearly valid requests of any client the server answers, keeps its rules, and leaks nothing`() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["SETTLE_FUZZ_HTTP"].flatMap { Int($0) } ?? 3000
        let first = environment["SETTLE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
        if count > 3000 { print("fuzzing HTTP with \(count) formed requests from seed \(first)") }
        let live = try LiveServer {
            $0.security.lockoutThreshold = 0
            $0.scripts = .built
        }
        var statuses: [Int: Int] = [:]
        var revisions: [String] = []
        for offset in 0..<count {
            let seed = first &+ UInt64(offset)
            if offset % 500 == 0 {
                try renew(live)
                revisions = []
            }
            let request = FormedRequest.make(seed: seed, revisions: revisions)
            var text = ""
            do { text = String(decoding: try answer(request, live, seed: seed), as: UTF8.self) } catch {
                Issue.record("no answer: seed \(seed): \(request.method) \(request.target) \(error)")
            }
            for status in Self.statuses(text) {
                statuses[status, default: 0] += 1
                #expect(
                    status < 500 || Self.meant.contains(status),
                    "seed \(seed): \(request.method) \(request.target) \(text)")
                if request.isWhole { check(request, status, seed: seed) }
            }
            if request.sender == .admin, request.target.lowercased().contains("ecurity") || !request.isWhole {
                try protect(live)
            }
            if let revision = Self.revision(text) { revisions = revisions.suffix(11) + [revision] }
        }
        #expect(try live.send("GET", "/").head.hasPrefix("HTTP/1.1 200"))
        waitUntil { live.server.load == (0, 0) }
        #expect(live.server.load == (0, 0))
        for wanted in [200, 201, 400, 401, 403, 404, 405, 409, 412] {
            #expect((statuses[wanted] ?? 0) > 0, "\(wanted): \(statuses)")
        }
        let left = live.folder.path + "/db.settle/attachments/new"
        #expect(((try? FileManager.default.contentsOfDirectory(atPath: left)) ?? []).isEmpty)
        if count > 3000 { print("statuses: \(statuses.sorted { $0.key < $1.key })") }
    }

    /// Sends a request on a connection of its own; a valid one must be answered.
    private func answer(_ request: FormedRequest, _ live: LiveServer, seed: UInt64) throws -> [UInt8] {
        let connection = try live.connect()
        try? connection.write(request.bytes)
        if request.isWhole, !request.isEndless, request.method != "HEAD" {
            let (head, body) = try connection.readAnswer()
            let isInterim = head.hasPrefix("HTTP/1.1 100")
            let (last, sent) = isInterim ? try connection.readAnswer() : (head, body)
            let isCompressed = last.contains("Content-Encoding: gzip")
            let content = isCompressed ? try Compression.expand(sent, limit: 64 << 20) : sent
            let isJSON = last.contains("Content-Type: application/json") && !last.hasPrefix("HTTP/1.1 304")
            if isJSON { #expect((try? JSONValue(utf8: content)) != nil, "no JSON: seed \(seed) \(request.target)") }
            return Array(last.utf8) + content
        }
        if seed % 3 == 0 { connection.finishSending() }
        let (bytes, _) = connection.readWhatComes(first: seed % 3 == 0 ? 2000 : 20, then: 5)
        if seed % 7 == 0 { connection.abort() }
        return bytes
    }

    /// Checks that a valid request without the necessary rights did not succeed.
    private func check(_ request: FormedRequest, _ status: Int, seed: UInt64) {
        guard (200..<300).contains(status), request.sender != .admin else { return }
        let segments = RequestTarget(request.target).segments
        guard let route = RoutingTable.routes.first(where: { $0.pattern.match(segments) != nil }) else { return }
        let method = request.method == "OPTIONS" ? "GET" : request.method
        switch route.access(method) {
        case .anyone: break
        case .member: #expect(request.sender == .member, "seed \(seed): \(method) \(request.target) \(status)")
        default: Issue.record("seed \(seed): \(method) \(request.target) \(status)")
        }
    }

    private static func statuses(_ text: String) -> [Int] {
        text.split(separator: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }.compactMap { Int($0.dropFirst(9).prefix(3)) }
    }

    private static func revision(_ text: String) -> String? {
        guard let start = text.range(of: "\"rev\":\"")?.upperBound else { return nil }
        let revision = text[start...].prefix { $0 != "\"" }
        return revision.isEmpty || revision.utf8.count > 40 ? nil : String(revision)
    }

    /// Deletes everything created, and creates the database and the member that the requests use.
    private func renew(_ live: LiveServer) throws {
        let names = try JSONValue(utf8: live.send("GET", "/_all_dbs").body).array?.compactMap(\.string) ?? []
        for name in names { _ = try live.send("DELETE", "/\(PercentCoding.encode(name))") }
        for name in ["_users", "_replicator", "db", "two"] { _ = try live.send("PUT", "/\(name)") }
        try protect(live)
        let user = #"{"name":"mia","type":"user","roles":[],"password":"pw"}"#
        _ = try live.send("PUT", "/_users/org.couchdb.user:mia", user)
    }

    /// Restricts the databases again, because an administrator's request may have opened one.
    private func protect(_ live: LiveServer) throws {
        let security = #"{"members":{"names":["mia"]},"admins":{"roles":["_admin"]}}"#
        for name in ["db", "two", "a%2Fb"] { _ = try live.send("PUT", "/\(name)/_security", security) }
        let closed = #"{"members":{"roles":["_admin"]},"admins":{"roles":["_admin"]}}"#
        for name in ["_users", "_replicator"] { _ = try live.send("PUT", "/\(name)/_security", closed) }
    }
}
