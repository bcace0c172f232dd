import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleServer
import SettleTesting
import Testing

@testable import SettleReplication

/// Servers that lack a feature, limit something, or stop in the middle.
@Suite(.timeLimit(.minutes(5))) struct OddServerTests {
    private func requests(_ names: String...) throws -> [RevisionRequest] {
        try names.map { RevisionRequest(id: try DocumentID(validating: $0), revision: try rev("1-a")) }
    }

    @Test(arguments: [404, 405, 501, 400])
    func `a server without bulk get is asked for each document, and for bulk get no more`(_ status: Int) async throws {
        let server = try OddServer { request in
            if request.path == "/db/_bulk_get" { return .init(status, #"{"error":"x","reason":"missing"}"#) }
            if request.target.hasPrefix("/db/no?open_revs") { return .init(200, #"[{"missing":"1-a"}]"#) }
            if request.path == "/db/no" { return .init(404, #"{"error":"not_found","reason":"missing"}"#) }
            if request.path == "/db/sick" { return .init(500, #"{"error":"x","reason":"y"}"#) }
            return .init(
                200, #"{"_id":"\#(request.path.dropFirst(4))","_rev":"1-a","_revisions":{"start":1,"ids":["a"]}}"#)
        }
        let peer = try server.peer()
        let asked = try requests("a", "no", "b", "sick", "c", "d")
        for _ in 0..<2 {
            let answers = try await peer.revisions(asked, budget: 1 << 20)
            let names = answers.map { answer in
                switch answer {
                case .found(let revision): revision.id.string
                case .missing: "missing"
                case .failed(let error), .refused(let error): "\(error.code)"
                }
            }
            #expect(names == ["a", "missing", "b", "server_error", "c", "d"])
        }
        #expect(server.count("/db/_bulk_get") == 1 && server.count("/db/a") == 2)
        #expect(server.requests.contains { $0.target == "/db/a?rev=1-a&revs=true&att_encoding_info=true" })
        #expect(try await peer.revisions(asked, budget: 1).count == 1)
    }

    @Test(arguments: [404, 403])
    func `a revision is missing only if the server is certain, because proxies refuse too`(
        _ status: Int
    ) async throws {
        let refusal = OddServer.Answer(status, #"{"error":"not_found","reason":"missing"}"#)
        let server = try OddServer { request in
            if request.path == "/db/_bulk_get" { return .init(405, #"{"error":"x","reason":"y"}"#) }
            guard request.target.contains("open_revs") else { return refusal }
            switch request.path {
            case "/db/gone": return .init(200, #"[{"missing":"1-a"}]"#)
            case "/db/there": return .init(200, #"[{"ok":{"_id":"there","_rev":"1-a"}}]"#)
            default: return refusal
            }
        }
        let answers = try await server.peer().revisions(requests("gone", "there", "never"), budget: 1 << 20)
        let names = answers.map { answer in
            switch answer {
            case .found: "found"
            case .missing: "missing"
            case .failed(let error): error.isTransient ? "failed" : "failed for good"
            case .refused: "refused"
            }
        }
        #expect(names == ["missing", "failed", "failed"])
    }

    @Test func `a missing database is not a missing bulk get`() async throws {
        let server = try OddServer { _ in .init(404, #"{"error":"not_found","reason":"Database does not exist."}"#) }
        let peer = try server.peer()
        let error = await #expect(throws: PeerError.self) { try await peer.revisions(requests("a"), budget: 1) }
        #expect(error?.code == .notFound && server.count("/db/_bulk_get") == 1)
    }

    @Test func `unordered, unrequested and forbidden results are assigned to their requests`() async throws {
        let server = try OddServer { _ in
            .init(
                200,
                #"""
                {"results":[{"id":"b","docs":[{"ok":{"_id":"b","_rev":"1-a"}}]},{"id":"x","docs":[{"ok":{"_id":"x","_rev":"1-a"}}]},
                {"id":"a","docs":[{"ok":{"_id":"a","_rev":"2-z"}},{"ok":{"_id":"a","_rev":"1-a"}}]},
                {"id":"c","docs":[{"error":{"id":"c","rev":"undefined","error":"forbidden","reason":"no"}}]},
                {"id":"d","docs":[{"error":{"id":"d","rev":"1-a","error":"internal_fabric_error","reason":"x"}}]},
                {"id":"e","docs":[{"ok":{"_id":"e","_rev":"1-a","bad":"\ud800"}}]}]}
                """#)
        }
        let answers = try await server.peer().revisions(requests("a", "b", "c", "d", "e", "f"), budget: 1 << 20)
        let names = answers.map { answer in
            switch answer {
            case .found(let revision): revision.id.string
            case .missing: "missing"
            case .failed(let error), .refused(let error): "\(error.code)"
            }
        }
        #expect(names == ["a", "b", "missing", "server_error", "bad_answer", "bad_answer"])
    }

    @Test func `a revision that is too large fails alone`() async throws {
        let server = try OddServer { _ in
            let long = String(repeating: "x", count: 5000)
            return .init(
                200,
                #"{"results":[{"id":"a","docs":[{"ok":{"_id":"a","_rev":"1-a"}}]},{"id":"b","docs":[{"ok":{"_id":"b","_rev":"1-a","t":"\#(long)"}}]},{"id":"c","docs":[{"ok":{"_id":"c","_rev":"1-a"}}]}]}"#
            )
        }
        let peer = try server.peer(change: { $0.largestRevision = 1000 })
        let answers = try await peer.revisions(requests("a", "b", "c"), budget: 1 << 20)
        guard answers.count == 3, case .found = answers[0], case .failed(let error) = answers[1],
            case .found = answers[2]
        else {
            Issue.record("\(answers)")
            return
        }
        #expect(error.code == .tooLarge && !error.isTransient)
    }

    // SEMANTICS 204
    @Test func `sequences that are arrays are sent back unchanged`() async throws {
        let server = try OddServer { request in
            request.target.contains("since=%5B7%2C%22x%22%5D")
                ? .init(200, #"{"results":[],"last_seq":[7,"x"]}"#)
                : .init(
                    200,
                    #"{"results":[{"seq":[7,"x"],"id":"a","changes":[{"rev":"1-a"}]}],"last_seq":[7,"x"],"pending":3}"#)
        }
        let peer = try server.peer()
        let page = try await peer.changes(ChangesRequest())
        #expect(page.changes.map(\.id) == ["a"] && page.pending == 3)
        let next = try await peer.changes(ChangesRequest(since: page.last))
        #expect(next.changes.isEmpty && next.last == page.last)
    }

    // SEMANTICS 133
    @Test func `channels and named filters are sent in the query`() async throws {
        let server = try OddServer { _ in .init(200, #"{"results":[],"last_seq":1}"#) }
        let peer = try server.peer()
        _ = try await peer.changes(ChangesRequest(limit: 10, filter: .channels(["a", "b c"])))
        _ = try await peer.changes(
            ChangesRequest(limit: 10, filter: .named("app/mine", parameters: ["owner": "ann&a", "limit": "1"])))
        let targets = server.requests.map(\.target)
        #expect(targets[0].contains("filter=sync_gateway%2Fbychannel&channels=a%2Cb%20c"))
        #expect(targets[1].contains("filter=app%2Fmine&owner=ann%26a") && targets[1].contains("limit=10"))
    }

    @Test func `a server that ignores the limit is read up to the limit`() async throws {
        let server = try OddServer { _ in
            let rows = (1...50).map { #"{"seq":\#($0),"id":"\#($0)","changes":[{"rev":"1-a"}]}"# }.joined(
                separator: ",\n")
            return .init(200, #"{"results":[\#(rows)],"last_seq":50}"#)
        }
        let page = try await server.peer().changes(ChangesRequest(limit: 7))
        #expect(page.changes.count == 7 && page.last == PeerSequence(7))
    }

    @Test func `an answer cut at any byte is a lost connection, and none of it is used`() async throws {
        let json = #"{"results":[{"seq":1,"id":"a","changes":[{"rev":"1-a"}]}],"last_seq":1,"pending":0}"#
        let whole = OddServer.Answer(200, json).bytes
        // Without a length, only the text itself shows that it was cut.
        let open = Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8)
        let next = Guarded<OddServer.Answer>(.init(bytes: []))
        let server = try OddServer { _ in next.withLock { $0 } }
        let peer = try server.peer()
        for count in 0..<whole.count {
            next.withLock { $0 = .init(bytes: Array(whole.prefix(count)), isCut: true) }
            let error = await #expect(throws: PeerError.self) { try await peer.changes(ChangesRequest()) }
            #expect(error?.isTransient == true, "cut at \(count): \(String(describing: error))")
        }
        for count in 0..<json.utf8.count {
            next.withLock { $0 = .init(bytes: open + Array(json.utf8.prefix(count)), isCut: true) }
            let error = await #expect(throws: PeerError.self) { try await peer.changes(ChangesRequest()) }
            #expect(error?.code == .connectionLost, "cut at \(count): \(String(describing: error))")
        }
        next.withLock { $0 = .init(bytes: whole) }
        #expect(try await peer.changes(ChangesRequest()).changes.count == 1)
    }

    @Test func `of a bulk get cut at any byte the complete documents are used`() async throws {
        let json =
            #"{"results":[{"id":"a","docs":[{"ok":{"_id":"a","_rev":"1-a"}}]},{"id":"b","docs":[{"ok":{"_id":"b","_rev":"1-a"}}]}]}"#
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(json.utf8.count)\r\n\r\n".utf8)
        let next = Guarded<OddServer.Answer>(.init(bytes: []))
        let server = try OddServer { _ in next.withLock { $0 } }
        let peer = try server.peer()
        let firstEnd = try #require(json.firstRange(of: "}}]},")).upperBound.utf16Offset(in: json) - 1
        for count in 0..<json.utf8.count {
            next.withLock { $0 = .init(bytes: head + Array(json.utf8.prefix(count)), isCut: true) }
            if count < firstEnd {
                let error = await #expect(throws: PeerError.self) {
                    try await peer.revisions(requests("a", "b"), budget: 1000)
                }
                #expect(error?.code == .connectionLost, "cut at \(count)")
            } else {
                let answers = try await peer.revisions(requests("a", "b"), budget: 1000)
                #expect(answers.count == (count < json.utf8.count - 2 ? 1 : 2), "cut at \(count)")
            }
        }
    }

    @Test func `a batch with too many documents is sent in halves, and later batches are smaller`() async throws {
        let server = try OddServer { request in
            let count = request.text.components(separatedBy: "\"_id\"").count - 1
            return count > 3 ? .init(413, #"{"error":"too_large","reason":"x"}"#) : .init(201, "[]")
        }
        let peer = try server.peer()
        let all = try (0..<10).map { try revision(DocumentID(validating: "d\($0)"), "1-a") }
        #expect(try await peer.store(all, branching: .allowed).allSatisfy { $0.name == "stored" })
        #expect(server.requests.count == 7)
    }

    @Test func `all leaves of a document are sent in one request, as long as they fit`() async throws {
        let server = try OddServer { _ in .init(201, "[]") }
        let peer = try server.peer(change: { $0.requestBytes = 3000 })
        let text = JSONValue.string(String(repeating: "x", count: 300))
        let all = try (0..<40).flatMap { number in
            let leaves = number == 20 ? 30 : number % 3 + 1
            return try (0..<leaves).map { try revision(DocumentID(validating: "d\(number)"), "1-\($0)", ["t": text]) }
        }
        _ = try await peer.store(all, branching: .allowed)
        #expect(server.requests.allSatisfy { $0.body.count <= 3000 } && server.requests.count > 10)
        for number in (0..<40) where number != 20 {
            #expect(server.requests.count { $0.text.contains("\"d\(number)\"") } == 1)
        }
        let sent = server.requests.reduce(0) { $0 + $1.text.components(separatedBy: "\"_id\"").count - 1 }
        #expect(sent == all.count)
    }

    @Test(arguments: [(413, "refused too_large"), (400, "refused bad_request"), (412, "failed attachment_missing")])
    func `the document that a server refuses a batch for is named`(_ status: Int, _ outcome: String) async throws {
        let server = try OddServer { request in
            let error = status == 412 ? "missing_stub" : "bad"
            return request.text.contains("\"d6\"")
                ? .init(status, #"{"error":"\#(error)","reason":"this one"}"#) : .init(201, "[]")
        }
        let all = try (0..<10).map { try revision(DocumentID(validating: "d\($0)"), "1-a") }
        let outcomes = try await server.peer().store(all, branching: .allowed)
        #expect(outcomes.indices.filter { outcomes[$0].name != "stored" } == [6])
        #expect(outcomes[6].name == outcome && outcomes[6].error?.message.contains("1-a of \"d6\"") == true)
        #expect(outcomes[6].error?.message.contains("this one") == true)
    }

    @Test func `a comparison that is too large for a server is halved until it fits`() async throws {
        let server = try OddServer { request in
            let names = try JSONValue(utf8: request.body).object?.names ?? []
            guard names.count <= 3 else { return .init(413, #"{"error":"too_large","reason":"x"}"#) }
            return .init(200, "{" + names.map { #""\#($0)":{"missing":["1-a"]}"# }.joined(separator: ",") + "}")
        }
        let changes = try (0..<10).map { number in
            ChangedDocument(
                sequence: PeerSequence(.number(JSONNumber(number))), id: try DocumentID(validating: "d\(number)"),
                leaves: [try rev("1-a")])
        }
        let found = try await server.peer().differences(from: changes)
        #expect(found.map(\.id) == changes.map(\.id) && found.map(\.missing) == changes.map(\.leaves))
        // 10, then each half of 5 and its parts of 2 and 3.
        #expect(server.count("/db/_revs_diff") == 7)
        let strict = try OddServer { _ in .init(413, #"{"error":"too_large","reason":"x"}"#) }
        let error = await #expect(throws: PeerError.self) { try await strict.peer().differences(from: changes) }
        #expect(error?.code == .tooLarge && strict.count("/db/_revs_diff") == 4)
    }

    // SEMANTICS 205
    @Test func `rows of a batch are classified by their kind`() async throws {
        let server = try OddServer { _ in
            .init(
                201,
                #"""
                [{"id":"d0","rev":"1-a","error":"forbidden","reason":"no"},{"id":"d1","error":"unauthorized","reason":"no"},
                {"id":"d2","rev":"1-b","error":"forbidden","reason":"another"},{"id":"d3","rev":"1-a","error":"timeout","reason":"x"},
                {"id":"d4","rev":"1-a","error":"something","status":403,"reason":"x"},{"ok":true,"id":"d5","rev":"1-a"}]
                """#)
        }
        let all = try (0..<6).map { try revision(DocumentID(validating: "d\($0)"), "1-a") }
        let outcomes = try await server.peer().store(all, branching: .allowed)
        #expect(
            outcomes.map(\.name) == [
                "refused forbidden", "refused unauthorized", "stored", "failed server_error", "refused bad_request",
                "stored",
            ])
    }

    @Test(arguments: [(429, "busy"), (503, "busy"), (500, "server_error"), (502, "server_error")])
    func `an overloaded server's delay is respected`(_ status: Int, _ code: String) async throws {
        let server = try OddServer { _ in .init(status, "{}", headers: ["Retry-After: 7"]) }
        let error = await #expect(throws: PeerError.self) {
            try await server.peer().store([revision("a", "1-a")], branching: .allowed)
        }
        #expect(error?.code.name == code && error?.retryAfter == .seconds(7) && error?.isTransient == true)
        #expect(error?.status == status && error?.message.contains("/db/_bulk_docs") == true)
    }

    @Test func `an HTML page is not an answer`() async throws {
        let server = try OddServer { _ in
            .init(200, Array("<html>Log in</html>".utf8), headers: ["Content-Type: text/html"])
        }
        let peer = try server.peer()
        for call in [{ _ = try await peer.connect() }, { _ = try await peer.changes(ChangesRequest()) }]
            as [() async throws -> Void]
        {
            let error = await #expect(throws: PeerError.self) { try await call() }
            #expect(error?.code == .badAnswer || error?.code == .connectionLost)
        }
    }

    @Test func `a redirect is reported, because a write does not follow it`() async throws {
        let server = try OddServer { _ in .init(307, "{}", headers: ["Location: http://127.0.0.1:1/db"]) }
        let error = await #expect(throws: PeerError.self) {
            try await server.peer().store([revision("a", "1-a")], branching: .allowed)
        }
        #expect(error?.isTransient == false && error?.status == 307)
    }

    @Test(arguments: [(409, "conflict"), (403, "forbidden"), (401, "unauthorized")])
    func `a checkpoint that may not be written is reported`(_ status: Int, _ code: String) async throws {
        let server = try OddServer { _ in .init(status, #"{"error":"x","reason":"y"}"#) }
        let error = await #expect(throws: PeerError.self) {
            try await server.peer().saveLocalDocument("_local/x", body: [:], revision: "0-1")
        }
        #expect(error?.code.name == code)
    }

    @Test func `a feed cut for its silence counts as no change, and heartbeats are requested more often`()
        async throws
    {
        let clock = Guarded(ContinuousClock.now)
        let server = try OddServer { _ in
            // A proxy that blocks everything for twenty seconds, and then closes the connection.
            clock.withLock { $0 += .seconds(20) }
            return .init(bytes: Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8), isCut: true)
        }
        let peer = try server.peer(now: { clock.withLock { $0 } })
        for _ in 0..<2 {
            let page = try await peer.changes(ChangesRequest(since: PeerSequence(3), wait: .seconds(300)))
            #expect(page.changes.isEmpty && page.last == PeerSequence(3))
        }
        #expect(server.requests.map { $0.target.contains("heartbeat=30000") } == [true, false])
        #expect(server.requests[1].target.contains("heartbeat=10000"))
    }

    @Test func `a proxy that cuts silent connections is detected, and a replication through it stays idle`()
        async throws
    {
        let live = try LiveServer()
        let hub = try DocumentStore(path: live.folder.path).create("hub")
        // A connection that is silent for longer than a second is cut.
        let limit = FaultPlan("idle limit") { request, _ in
            request.path.contains("feed=longpoll") && !request.path.contains("heartbeat=1000")
                ? .silence(.milliseconds(1100)) : .none
        }
        let proxy = try FaultProxy(to: live.server.port, plan: limit)
        defer { proxy.stop() }
        let notes = try Database.inMemory()
        defer { notes.close() }
        let (asked, telling) = AsyncStream.makeStream(of: String.self)
        let client = TellingClient(client: DefaultTransport()) { telling.yield($0.url.query ?? "") }
        let peer = try CouchDBPeer(
            HTTPURL("\(proxy.address)/hub"), credentials: .basic(user: "admin", password: "secret-word"),
            client: client)
        var configuration = ReplicationConfiguration.pull(notes, from: peer)
        configuration.isContinuous = true
        let replicator = OneWayReplicator(configuration)
        let modes = Guarded<Set<ReplicationStatus.Mode>>([])
        let statuses = replicator.statuses
        let watching = Task { for await status in statuses { modes.withLock { _ = $0.insert(status.mode) } } }
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        // The feed that is requested after the cut one returns the change.
        for await query in asked where query.contains("heartbeat=1000") { break }
        try hub.put("a", ["n": 1])
        await replicator.waits { $0.counts.revisionsWritten == 1 }
        await replicator.stop()
        watching.cancel()
        #expect(!modes.withLock(\.self).contains(.offline))
        #expect(proxy.statistic[.silence] != nil, "\(proxy.report)")
    }

    @Test func `heartbeats are requested once a second at most`() {
        var limit = IdleLimit()
        #expect(limit.heartbeat(.seconds(30)) == .seconds(30))
        let early = limit.recordCut(after: .milliseconds(900), asked: .seconds(30))
        #expect(!early)
        for _ in 0..<10 { _ = limit.recordCut(after: .seconds(3), asked: limit.heartbeat(.seconds(30))) }
        #expect(limit.heartbeat(.seconds(30)) == .seconds(1))
        let late = limit.recordCut(after: .seconds(3), asked: .seconds(1))
        #expect(!late)
    }
}
