import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// Documents of one `_replicator` that several nodes read: each replication runs on one of them.
@Suite(.timeLimit(.minutes(5))) struct LeasedReplicationTests {
    @Test func `a node that dies loses its replication to another, which completes it from the checkpoint`()
        async throws
    {
        let world = try await LeasedNodes(["one", "other"])
        let source = try world.database("a")
        for number in 0..<600 { try source.put(DocumentID(unchecked: "\(number)"), [:]) }
        // Half of the batches.
        for node in world.nodes { node.transport.hold(after: 6) }
        try world.order("once", ["worker_batch_size": 50, "checkpoint_interval": 50])
        try #require(try await world.pass { world.nodes.contains { $0.transport.isHolding } } != nil)
        let dead = try #require(world.nodes.first { $0.transport.isHolding })
        let heir = try #require(world.nodes.first { $0 !== dead })
        #expect(heir.running == [] && heir.starts("once") == 0)

        // Neither its clock nor its calls go on.
        dead.sleep(true)
        dead.node.isCut = true
        heir.transport.open()
        // 20 seconds, as the test of the value shows, and the start.
        try #require(try await world.pass(atMost: .seconds(30)) { heir.starts("once") == 1 } != nil)
        try #require(
            try await world.pass { try heir.database.document("once")?["_replication_state"] == "completed" } != nil)
        let document = try #require(try heir.database.document("once"))
        for name in ["revisions_checked", "docs_written"] {
            #expect((1..<600).contains(document["_replication_stats"]?[name]?.number?.int ?? 0), "\(name)")
        }
        #expect(try world.database("b").counts().live == 600)
        #expect(document.revision?.generation == 2)

        // It wakes, and what it ran ends without a word in the document.
        dead.node.isCut = false
        dead.sleep(false)
        try #require(try await world.pass { dead.hasWarned("the lease ran out") } != nil)
        dead.transport.open()
        try #require(try await world.pass { dead.scheduler.counts.states[.running] == 0 } != nil)
        let origin = ReplicationJob.Origin(database: LeasedNodes.replicator, document: "once")
        await eventually("the dead node has read the document") { dead.documents.entry(origin) == nil }
        try await world.pass(.seconds(5))
        #expect(try heir.database.document("once")?.revision == document.revision)
    }

    @Test func `what a frozen node writes late is refused, and the other node completes`() async throws {
        let world = try await LeasedNodes(["one", "other"])
        try world.database("a").put("x", [:])
        for node in world.nodes { node.transport.hold() }
        try world.order("once")
        try #require(try await world.pass { world.nodes.contains { $0.transport.isHolding } } != nil)
        let frozen = try #require(world.nodes.first { $0.transport.isHolding })
        let heir = try #require(world.nodes.first { $0 !== frozen })
        frozen.sleep(true)
        try #require(try await world.pass { heir.transport.isHolding } != nil)

        // By its own clock it has the lease still.
        frozen.transport.open()
        await eventually("the frozen node could not write") { frozen.hasWarned("was not written") }
        #expect(try heir.database.document("once")?.revision?.generation == 1)
        frozen.sleep(false)
        heir.transport.open()
        try #require(try await world.pass { try heir.database.document("once")?.revision?.generation == 2 } != nil)
        try await world.pass(.seconds(5))
        #expect(try heir.database.document("once")?.revision?.generation == 2)
        #expect(try heir.database.document("once")?["_replication_state"] == "completed")
        #expect(world.nodes.allSatisfy { $0.running == [] })
    }

    @Test func `a document that can never run is noted once`() async throws {
        let world = try await LeasedNodes(["one", "other", "third"])
        try world.nodes[0].database.put("bad", ["source": "x"])
        try #require(
            try await world.pass { try world.nodes[1].database.document("bad")?["_replication_state"] == "failed" }
                != nil)
        for _ in 0..<8 { try await world.pass(.seconds(2)) }
        #expect(try world.nodes[1].database.document("bad")?.revision?.generation == 2)
        #expect(world.nodes.count { $0.hasWarned("can't be") } == 1)
        let origin = ReplicationJob.Origin(database: LeasedNodes.replicator, document: "bad")
        #expect(world.nodes.allSatisfy { $0.documents.entry(origin) == nil })
    }

    @Test func `all nodes show all jobs, and what waits for a node is pending`() async throws {
        let world = try await LeasedNodes(["one", "other"], room: 1)
        for name in ["c", "d"] { try await CouchDBPeer(world.server.url(name)).create() }
        for target in ["b", "c", "d"] { try world.order(target, to: target, ["continuous": true]) }
        try world.database("a").put("x", [:])
        try #require(try await world.pass { world.nodes.allSatisfy { $0.running.count == 1 } } != nil)
        // A status is stored when a lease is renewed, and read at the next look.
        try #require(
            try await world.pass {
                world.nodes.allSatisfy { $0.documents.jobsElsewhere.contains { $0.statistics != nil && $0.isRunning } }
            } != nil)
        for (node, other) in [(world.nodes[0], world.nodes[1]), (world.nodes[1], world.nodes[0])] {
            let elsewhere = node.documents.jobsElsewhere
            #expect(elsewhere.count == 2)
            let running = try #require(elsewhere.first { $0.isRunning })
            #expect(running.place == .node(other.node.name) && running.state == .running)
            #expect(running.origin?.document.string == other.running.first)
            #expect(running.history.map(\.kind) == ["started", "added"])
            let waiting = try #require(elsewhere.first { !$0.isRunning })
            #expect(waiting.place == .nowhere && waiting.state == .pending)
            let origin = try #require(running.origin)
            #expect(node.documents.job(of: origin)?.place == .node(other.node.name))
            #expect(node.documents.job(of: try #require(waiting.origin))?.state == .pending)
        }
        let second = try #require(world.nodes[1].running.first)
        #expect(world.nodes[0].documents.node == "one")

        // Of two documents that ask for the same, one runs on one of the nodes.
        try world.order("again", to: second, ["continuous": true, "comment": "the same"])
        let again = ReplicationJob.Origin(database: LeasedNodes.replicator, document: "again")
        try #require(
            try await world.pass {
                world.nodes.allSatisfy { $0.documents.entry(again)?.problem?.contains("started already") == true }
            } != nil)
        #expect(world.nodes.allSatisfy { $0.starts("again") == 0 })
    }

    @Test func `with more jobs than room on all nodes they take turns`() async throws {
        let world = try await LeasedNodes(["one", "other"], room: 1, turn: .milliseconds(100))
        let targets = ["b", "c", "d", "e", "f"]
        for name in targets.dropFirst() { try await CouchDBPeer(world.server.url(name)).create() }
        for target in targets { try world.order(target, to: target, ["continuous": true]) }
        try world.database("a").put("x", [:])
        let copies = try targets.map { try world.database($0) }
        try #require(
            try await world.pass(atMost: .seconds(300)) { try copies.allSatisfy { try $0.counts().live == 1 } } != nil)
        // And again.
        try world.database("a").put("y", [:])
        try #require(
            try await world.pass(atMost: .seconds(300)) { try copies.allSatisfy { try $0.counts().live == 2 } } != nil)
    }

    @Test func `a node that is stopped gives its leases back, and the others need not wait`() async throws {
        let world = try await LeasedNodes(["one", "other"])
        try world.order("on", ["continuous": true])
        try #require(try await world.pass { world.nodes.contains { $0.running == ["on"] } } != nil)
        let first = try #require(world.nodes.first { $0.running == ["on"] })
        let other = try #require(world.nodes.first { $0 !== first })
        first.documents.stop()
        let areEnded = first.scheduler.stop(seconds: 60)
        #expect(areEnded)
        first.documents.leave(areEnded: areEnded)
        // A lease that is not released ends after 15 seconds.
        #expect(try await world.pass(atMost: .seconds(14)) { other.running == ["on"] } != nil)
    }

    @Test func `a change of a document ends its job where it runs, and a deletion leaves nothing`() async throws {
        let world = try await LeasedNodes(["one", "other"])
        try world.order("on", ["continuous": true])
        try #require(try await world.pass { world.nodes.contains { $0.running == ["on"] } } != nil)
        try await CouchDBPeer(world.server.url("c")).create()
        let former = world.runningIDs
        try world.order("on", to: "c", ["continuous": true])
        // Until the former job is ordered to end, it takes along what is written.
        try #require(
            try await world.pass { !world.runningIDs.isEmpty && world.runningIDs.isDisjoint(with: former) } != nil)
        try world.database("a").put("x", [:])
        let copy = try world.database("c")
        try #require(try await world.pass { try copy.counts().live == 1 } != nil)
        #expect(try world.database("b").counts().live == 0)
        let document = try #require(try world.nodes[1].database.document("on"))
        try world.nodes[1].database.delete(document, onConflict: .fail)
        try #require(
            try await world.pass {
                world.nodes.allSatisfy { $0.running == [] && $0.documents.jobsElsewhere.isEmpty }
            } != nil)
        // Nothing waits for time any more.
        #expect(try await world.pass { world.nodes.allSatisfy { $0.clock.sleeperCount == 0 } } != nil)
    }

    @Test func `a database that can't be read is read a second later, and the warning comes once`() async throws {
        let world = try await LeasedNodes(["one", "other"])
        let node = world.nodes[1]
        let begin = ContinuousClock.now
        node.node.isCut = true
        try world.order("on", ["continuous": true])
        await eventually("it was read again twice") { node.node.failures >= 3 }
        // It is skipped, so that nobody waits for a server that can't be reached.
        for _ in 1...5 { node.documents.catchUp() }
        let (failures, passed) = (node.node.failures, ContinuousClock.now - begin)
        #expect(.seconds(failures - 2) <= passed)
        #expect(node.warnings.withLock(\.count) == 1 && node.hasWarned("can't be read"))
        node.node.isCut = false
        let origin = ReplicationJob.Origin(database: LeasedNodes.replicator, document: "on")
        await eventually("the document is read") { node.documents.entry(origin) != nil }
    }
}
