import Foundation
import Settle
import SettleDatabase
import SettleTesting
import Testing

@testable import SettleServer

/// `_db_updates` of nodes that share a store: each event is written by the node that did it.
@Suite(.timeLimit(.minutes(5))) struct SharedUpdatesTests {
    /// The events after a position, `updated:db`, each with its number of revisions.
    private func events(_ client: RouterClient, since: String = "0") throws -> [String] {
        let rows = try client.send("GET", "/_db_updates?since=\(since)").json["results"]?.array ?? []
        return rows.map { "\($0["type"]?.string ?? ""):\($0["db_name"]?.string ?? "")" }
    }

    /// How often an event was written.
    private func times(_ event: String, _ nodes: SharedNodes) throws -> Int {
        let document = try nodes.one.send("GET", "/_global_changes/\(event)").json
        return Int(document["_rev"]?.string?.prefix { $0 != "-" } ?? "") ?? 0
    }

    @Test func `one write is one event, whichever node does it`() throws {
        let nodes = try SharedNodes()
        _ = try nodes.one.send("GET", "/_db_updates")
        for node in [nodes.one, nodes.two] {
            let name = node.server === nodes.one.server ? "first" : "second"
            #expect(try node.send("PUT", "/\(name)").status == 201)
            // Both have it open, and hear of its commits.
            for other in [nodes.one, nodes.two] { #expect(try other.send("GET", "/\(name)").status == 200) }
            #expect(try node.send("PUT", "/\(name)/a", [:]).status == 201)
            waitUntil("the write is logged") { try events(nodes.one).contains("updated:\(name)") }
            #expect(try times("created:\(name)", nodes) == 1)
            // The other node hears of the commit now, if it has not heard of it before.
            for other in [nodes.one, nodes.two] { #expect(try other.send("GET", "/\(name)/a").status == 200) }
        }
        // A node logs what it has noted in order, so a later write of each node brings what was noted before.
        for (name, node) in [("third", nodes.one), ("fourth", nodes.two)] {
            #expect(try node.send("PUT", "/\(name)").status == 201)
            #expect(try node.send("PUT", "/\(name)/a", [:]).status == 201)
            waitUntil("the last write is logged") { try events(nodes.one).contains("updated:\(name)") }
        }
        for name in ["first", "second"] { #expect(try times("updated:\(name)", nodes) == 1) }
        for node in [nodes.one, nodes.two] {
            #expect(try events(node).sorted().filter { !$0.contains("_") }.count == 8)
        }
    }

    @Test func `a node takes the log that another one makes, deletes and makes again`() throws {
        let nodes = try SharedNodes()
        #expect(try nodes.two.send("PUT", "/db").status == 201)
        #expect(try nodes.one.send("GET", "/_db_updates").status == 200)
        for round in 0..<2 {
            #expect(try nodes.two.send("PUT", "/new\(round)").status == 201)
            #expect(try nodes.two.send("PUT", "/db/a\(round)", [:]).status == 201)
            #expect(try nodes.one.send("PUT", "/mine\(round)").status == 201)
            let wanted: Set = ["created:db", "created:new\(round)", "created:mine\(round)", "updated:db"]
            waitUntil("\(wanted) are logged") { try wanted.isSubset(of: events(nodes.one)) }
            #expect(try nodes.two.send("DELETE", "/new\(round)").status == 200)
            #expect(try events(nodes.one).contains("deleted:new\(round)"))
            #expect(try nodes.two.send("DELETE", "/_global_changes").status == 200)
            #expect(try nodes.one.send("GET", "/_db_updates").status == 200)
        }
    }

    @Test func `nodes that write the same event at the same time lose none`() throws {
        let nodes = try SharedNodes()
        _ = try nodes.one.send("GET", "/_db_updates")
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        for round in 0..<4 {
            let since = try #require(try nodes.one.send("GET", "/_db_updates").json["last_seq"]?.string)
            for (number, node) in [nodes.one, nodes.two].enumerated() {
                #expect(try node.send("PUT", "/db/\(round)-\(number)", [:]).status == 201)
            }
            waitUntil("a write is logged") { try events(nodes.two, since: since).contains("updated:db") }
        }
        #expect(try (4...8).contains(times("updated:db", nodes)))
    }

    @Test func `events are written once the store can be reached again`() throws {
        let nodes = try SharedNodes()
        _ = try nodes.one.send("GET", "/_db_updates")
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        #expect(try nodes.one.send("PUT", "/db/a", [:]).status == 201)
        waitUntil("the first write is logged") { try events(nodes.one).contains("updated:db") }
        let since = try #require(try nodes.one.send("GET", "/_db_updates").json["last_seq"]?.string)
        // Writes are logged half a second apart, so the next one is still to be logged when the store is gone.
        #expect(try nodes.one.send("PUT", "/db/b", [:]).status == 201)
        nodes.memory.isDown = true
        // A deletion is logged after the writes before it; so this call returns when an attempt for them has failed.
        nodes.one.server.state.updates.deleted("none")
        #expect(nodes.memory.network.failures > 0)
        nodes.memory.isDown = false
        waitUntil("the second write is logged") { try events(nodes.two, since: since).contains("updated:db") }
    }

    @Test func `no node marks the log as its own`() throws {
        let nodes = try SharedNodes()
        _ = try nodes.one.send("GET", "/_db_updates")
        #expect(try nodes.one.send("GET", "/_global_changes/_local/running").status == 404)
    }
}
