import Settle
import SettleDatabase
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// What servers show of each other's replications where they share the databases.
@Suite(.timeLimit(.minutes(5))) struct LeasedServiceTests {
    @Test func `both servers show a replication with the name of the one that runs it`() async throws {
        let far = try LiveServer()
        for name in ["a", "b"] { #expect(try await far.ask("PUT", "/\(name)").status == 201) }
        // Time stands still while the servers are compared, so no lease runs out on a busy machine.
        let clock = ManualClock()
        let store = try SharedStore(clock)
        let nodes = try ["one", "other"].map { try store.node($0) }
        let services = nodes.map { node in
            ReplicationService(ReplicatorOptions(), clock: clock, isAdmin: { _ in true }, log: nil)
        }
        for (service, node) in zip(services, nodes) { service.watch("_replicator", node.database) }
        defer { for service in services { service.stop(seconds: 5) } }
        let address = "http://admin:admin@127.0.0.1:\(far.port)"
        let members: JSONValue = [
            "source": .string("\(address)/a"), "target": .string("\(address)/b"), "continuous": true,
        ]
        _ = try nodes[0].database.write([DocumentEdit(id: "on", parent: nil, body: try DocumentBody(members))])
        func runner() -> Int? {
            guard let runner = services.firstIndex(where: { !$0.scheduler.runningJobs.isEmpty }) else { return nil }
            let seen = services[1 - runner].jobs(skip: 0, limit: 10).page.first
            let isSeen = seen?.json(at: "")["node"] == .string(nodes[runner].name)
            return isSeen && services[1 - runner].runningJobs().first?.statistics != nil ? runner : nil
        }
        await eventually("one runs it, and the other one knows") {
            if runner() != nil { return true }
            clock.advance(by: .milliseconds(150))
            return false
        }
        let found = try #require(runner())
        let (here, there) = (services[found], services[1 - found])

        let name = JSONValue.string(nodes[found].name)
        let object = try #require(members.object)
        for service in [here, there] {
            let (page, total) = service.jobs(skip: 0, limit: 10)
            let job = try #require(page.first?.json(at: service.node))
            #expect(total == 1 && job["node"] == name && job["doc_id"] == "on" && job["database"] == "_replicator")
            #expect(job["source"] == .string("http://127.0.0.1:\(far.port)/a/") && job["pid"]?.string != nil)
            #expect(job["info"]?["docs_written"] == 0 && job["history"]?.array?.count == 2)
            #expect(service.job(page[0].id)?.id == page[0].id)
            let document = service.json(.init(database: "_replicator", document: "on"), object)
            #expect(document?["state"] == "running" && document?["node"] == name)
            let task = service.runningJobs().first?.taskJSON(at: service.node)
            #expect(task?["node"] == name && task?["docs_written"] == 0 && task?["continuous"] == true)
        }
        #expect(there.jobs(skip: 1, limit: 10).page.isEmpty && there.jobs(skip: 1, limit: 10).total == 1)
        #expect(there.scheduler.runningJobs.isEmpty)
    }
}
