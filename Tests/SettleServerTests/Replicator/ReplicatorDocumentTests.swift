import Dispatch
import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication
@testable import SettleServer

/// Documents of `_replicator`: their replications, and the states written into them.
@Suite(.timeLimit(.minutes(5))) struct ReplicatorDocumentTests {
    @Test func `a replication document runs once, and records its state`() async throws {
        let room = try await ReplicatorRoom()
        #expect(try await room.near.ask("PUT", "/a/x", [:]).status == 201)
        #expect(try await room.order("once").status == 201)
        await room.wait("once", for: "completed")
        let document = try await room.near.ask("GET", "/_replicator/once").json
        #expect(document["_replication_state"] == "completed" && document["owner"] == "admin")
        #expect(document["_replication_stats"]?["docs_written"] == 1)
        #expect(try await room.far.has("/a/x"))
        #expect(document["_replication_state_time"]?.string?.hasSuffix("Z") == true)
        #expect(document["_rev"]?.string?.hasPrefix("2-") == true)
        let row = try await room.near.ask("GET", "/_scheduler/docs/_replicator/once").json
        #expect(row["info"]?["docs_written"] == 1 && row["error_count"] == 0 && row["id"]?.isNull == true)
        // A completed replication is not started again, unless its state is removed.
        #expect(try await room.near.ask("PUT", "/a/y", [:]).status == 201)
        let again = try await room.order("once", ["_rev": document["_rev"] ?? .null])
        #expect(again.status == 201)
        await room.far.wait(for: "/a/y")
    }

    @Test func `a change of a document restarts its replication, and a deletion ends it`() async throws {
        let room = try await ReplicatorRoom()
        let first = try await room.order("on", ["continuous": true])
        await room.wait("on", for: "running")
        #expect(try await room.far.ask("PUT", "/b").status == 201)
        let second = try await room.order("on", ["continuous": true, "_rev": first.json["rev"] ?? .null], to: "b")
        #expect(second.status == 201)
        #expect(try await room.near.ask("PUT", "/a/x", [:]).status == 201)
        await room.far.wait(for: "/b/x")
        // Until the change was noticed, the replication to the other database went on.
        #expect(try await room.near.ask("PUT", "/a/y", [:]).status == 201)
        await room.far.wait(for: "/b/y")
        #expect(try await !room.far.has("/a/y"))
        let revision = try #require(second.json["rev"]?.string)
        #expect(try await room.near.ask("DELETE", "/_replicator/on?rev=\(revision)").status == 200)
        await room.wait("on", for: nil)
        #expect(try await room.near.ask("GET", "/_scheduler/jobs").json["total_rows"] == 0)
    }

    @Test func `the job of a deleted document has ended before the document is gone`() async throws {
        let room = try await ReplicatorRoom()
        let service = ReplicationService(ReplicatorOptions(), isAdmin: { _ in true }, log: nil)
        defer { service.stop(seconds: 5) }
        let origin = ReplicationJob.Origin(database: "_replicator", document: "on")
        let shown = Guarded<[Bool]>([])
        service.scheduler.observe { [weak documents = service.documents] notice in
            guard case .removed = notice else { return }
            let isShown = documents?.entry(origin) != nil
            shown.withLock { $0.append(isShown) }
        }
        let database = try Database.inMemory()
        service.watch("_replicator", database)
        let members: JSONValue = [
            "source": room.url(room.near, "a"), "target": room.url(room.far, "a"), "continuous": true,
        ]
        let written = try database.save(Document(id: "on", body: try DocumentBody(members)), onConflict: .fail)
        await eventually("the job is there") { service.jobs(skip: 0, limit: 1).total == 1 }
        try database.delete(written, onConflict: .fail)
        await eventually("the job has ended") { shown.withLock { !$0.isEmpty } }
        #expect(shown.withLock(\.self) == [true])
        await eventually("the document is gone") { service.documents.entry(origin) == nil }
    }

    @Test func `jobs and their documents are shown as the documents are stored`() async throws {
        let room = try await ReplicatorRoom()
        let service = ReplicationService(ReplicatorOptions(), isAdmin: { _ in true }, log: nil)
        defer { service.stop(seconds: 5) }
        let database = try Database.inMemory()
        service.watch("_replicator", database)
        let members: JSONValue = [
            "source": room.url(room.near, "a"), "target": room.url(room.far, "a"), "continuous": true,
        ]
        /// Asks for the number of jobs; `nil` if that took so long that the list did not wait for the replicator.
        func total() -> Int? {
            let begin = ContinuousClock.now
            let total = service.jobs(skip: 0, limit: 1).total
            return ContinuousClock.now - begin < .seconds(10) ? total : nil
        }
        // Even if no list is asked for, the replicator reads a new change within a moment.
        for round in 1...10 {
            let id = DocumentID(unchecked: "\(round)")
            let written = try database.save(Document(id: id, body: try DocumentBody(members)), onConflict: .fail)
            let origin = ReplicationJob.Origin(database: "_replicator", document: id)
            #expect(total() == nil || service.documents.entry(origin) != nil)
            await eventually("the job is there") { service.jobs(skip: 0, limit: 1).total == 1 }
            try database.delete(written, onConflict: .fail)
            guard let left = total() else { continue }
            #expect(left == 0 && service.documents.entry(origin) == nil)
        }
    }

    @Test func `a database that is deleted and created again is watched`() async throws {
        let room = try await ReplicatorRoom()
        let service = ReplicationService(ReplicatorOptions(), isAdmin: { _ in true }, log: nil)
        defer { service.stop(seconds: 5) }
        let members: JSONValue = [
            "source": room.url(room.near, "a"), "target": room.url(room.far, "a"), "continuous": true,
        ]
        let (old, new) = (try Database.inMemory(), try Database.inMemory())
        service.watch("_replicator", old)
        try old.save(Document(id: "old", body: try DocumentBody(members)))
        await eventually("the first job is there") { service.jobs(skip: 0, limit: 1).total == 1 }
        // The replicator is busy until both have happened.
        let isFree = DispatchSemaphore(value: 0)
        service.documents.queue.async { isFree.wait() }
        old.close()
        service.watch("_replicator", new)
        isFree.signal()
        try new.save(Document(id: "new", body: try DocumentBody(members)))
        await eventually("the second job is there") {
            service.jobs(skip: 0, limit: 2).page.map(\.origin?.document) == ["new"]
        }
    }

    @Test func `a failed replication is retried, and resumes when it can`() async throws {
        let room = try await ReplicatorRoom()
        #expect(try await room.near.ask("PUT", "/a/x", [:]).status == 201)
        #expect(try await room.order("later", ["continuous": true], to: "later").status == 201)
        await room.wait("later", for: "crashing")
        let row = try await room.near.ask("GET", "/_scheduler/docs/_replicator/later").json
        #expect(row["info"]?["error"]?.string?.contains("could not open") == true && row["error_count"]?.int ?? 0 > 0)
        #expect(try await room.far.ask("PUT", "/later").status == 201)
        await room.wait("later", for: "running")
        await room.far.wait(for: "/later/x")
        await eventually("the failure is no longer shown") {
            let row = try await room.near.ask("GET", "/_scheduler/docs/_replicator/later").json
            return row["state"] == "running" && row["info"]?["docs_written"] == 1 && row["error_count"] == 0
        }
        let states = try await room.near.ask("GET", "/_scheduler/docs?states=running,pending").json
        #expect(states["docs"]?.array?.count == 1)
        #expect(
            try await room.near.ask("GET", "/_scheduler/docs?states=completed").json["docs"]?.array?.isEmpty == true)
        #expect(try await room.near.ask("GET", "/_scheduler/docs?states=odd").status == 400)
    }

    @Test func `an invalid replication document is refused, or failed when it was replicated here`() async throws {
        let room = try await ReplicatorRoom()
        #expect(try await room.near.ask("PUT", "/_replicator/bad", ["source": room.url(room.near, "a")]).status == 403)
        let named: JSONValue = ["source": room.url(room.near, "a"), "target": "a"]
        #expect(try await room.near.ask("PUT", "/_replicator/bad", named).status == 403)
        let brought: JSONValue = ["new_edits": false, "docs": [["_id": "bad", "_rev": "1-a", "source": "x"]]]
        #expect(try await room.near.ask("POST", "/_replicator/_bulk_docs", brought).status == 201)
        await room.wait("bad", for: "failed")
        let document = try await room.near.ask("GET", "/_replicator/bad").json
        #expect(document["_replication_state_reason"]?.string?.contains("target") == true)
    }

    @Test func `of two documents for the same replication one runs, then the other`() async throws {
        let room = try await ReplicatorRoom()
        let first = try await room.order("one", ["continuous": true])
        await room.wait("one", for: "running")
        #expect(try await room.order("two", ["continuous": true, "comment": "the same"]).status == 201)
        await room.wait("two", for: "error")
        #expect(
            try await room.near.ask("DELETE", "/_replicator/one?rev=\(first.json["rev"]?.string ?? "")").status == 200)
        await room.wait("two", for: "running")
    }

    @Test func `other databases named _replicator have jobs, from their creation to their deletion`() async throws {
        let room = try await ReplicatorRoom()
        #expect(try await room.near.ask("PUT", "/team%2F_replicator").status == 201)
        let body: JSONValue = [
            "source": room.url(room.near, "a"), "target": room.url(room.far, "a"), "continuous": true,
        ]
        #expect(try await room.near.ask("PUT", "/team%2F_replicator/on", body).status == 201)
        for path in ["team/_replicator", "team%2F_replicator"] {
            await eventually("it is running") {
                try await room.near.ask("GET", "/_scheduler/docs/\(path)/on").json["state"] == "running"
            }
            #expect(try await room.near.ask("GET", "/_scheduler/docs/\(path)").json["total_rows"] == 1)
        }
        #expect(try await room.near.ask("DELETE", "/team%2F_replicator").status == 200)
        await room.waitForNoJob()
    }

    @Test func `the state of a document is reported even if its id has a slash`() async throws {
        let room = try await ReplicatorRoom()
        #expect(try await room.order("a%2Fb").status == 201)
        await room.wait("a%2Fb", for: "completed")
        let row = try await room.near.ask("GET", "/_scheduler/docs/_replicator/a%2Fb").json
        #expect(row["doc_id"] == "a/b" && row["database"] == "_replicator")
        #expect(try await room.near.ask("GET", "/_scheduler/docs/_replicator/").json["total_rows"] == 1)
        #expect(try await room.near.ask("GET", "/_scheduler/docs/other/a%2Fb").status == 400)
    }

    /// The shorter interval ends before a replication has made its first request.
    @Test(arguments: [0.1, 0.001])
    func `with room for one, two continuous replications take turns`(seconds: Double) async throws {
        let room = try await ReplicatorRoom { options in
            options.replicator.jobs = 1
            options.replicator.turn = .seconds(seconds)
        }
        #expect(try await room.far.ask("PUT", "/b").status == 201)
        #expect(try await room.order("one", ["continuous": true]).status == 201)
        #expect(try await room.order("two", ["continuous": true], to: "b").status == 201)
        for number in 0..<3 {
            #expect(try await room.near.ask("PUT", "/a/x\(number)", [:]).status == 201)
            await room.far.wait(for: "/a/x\(number)")
            await room.far.wait(for: "/b/x\(number)")
        }
    }
}
