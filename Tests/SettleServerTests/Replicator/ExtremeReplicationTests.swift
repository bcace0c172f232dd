import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Replication documents with numbers that overflow: they run or fail, also after a restart.
@Suite(.timeLimit(.minutes(5))) struct ExtremeReplicationTests {
    @Test func `a document with a huge number does not crash the server, at any start`() throws {
        let folder = try TemporaryFolder()
        let first = try ServedFolder.restartable(folder)
        for name in ["a", "b"] { _ = try first.ask("PUT", "/\(name)") }
        _ = try first.ask("PUT", "/a/x", "{}")
        let port = first.port
        for name in ["worker_batch_size", "checkpoint_interval", "retries_per_request"] {
            for (index, number) in ["4611686018427387904", "9223372036854775807"].enumerated() {
                let url = "http://admin:admin@127.0.0.1:\(port)"
                let body = #"{"source":"\#(url)/a","target":"\#(url)/b","\#(name)":\#(number)}"#
                _ = try first.ask("PUT", "/_replicator/\(name)\(index)", body)
            }
        }
        waitUntil { !first.isRunning || (try? allEnded(first)) ?? false }
        #expect(first.isRunning)
        if first.isRunning { first.kill() }
        let second = try ServedFolder(folder, port: port)
        waitUntil { !second.isRunning || (try? allEnded(second)) ?? false }
        #expect(second.isRunning)
        #expect(try second.ask("GET", "/b/x").hasPrefix("HTTP/1.1 200"))
    }

    private func allEnded(_ served: ServedFolder) throws -> Bool {
        let rows = try served.json("GET", "/_scheduler/docs")["docs"]?.array ?? []
        return rows.count == 6 && rows.allSatisfy { ["completed", "failed"].contains($0["state"]?.string) }
    }

    @Test func `a checkpoint with a huge number in its log does not crash the server`() async throws {
        let room = try await ReplicatorRoom()
        #expect(try await room.near.ask("PUT", "/a/x", [:]).status == 201)
        let first = try await room.replicate()
        #expect(first.json["ok"] == true)
        // Every user who may write to a database may write the logs of its replications.
        for server in [room.near, room.far] {
            let logs = try await server.ask("GET", "/a/_local_docs?include_docs=true").json["rows"]?.array ?? []
            for log in logs {
                var document = try #require(log["doc"]?.object)
                guard let history = document["history"]?.array, let entry = history.first?.object else { continue }
                let numbers = [Int.max, Int.min] + Array(1...60)
                document["history"] = .array(
                    numbers.map { number in
                        var changed = entry
                        changed["number"] = .number(JSONNumber(number))
                        return .object(changed)
                    })
                let id = try #require(document["_id"]?.string)
                #expect(try await server.ask("PUT", "/a/\(id)", .object(document)).status == 201)
            }
        }
        #expect(try await room.near.ask("PUT", "/a/y", [:]).status == 201)
        #expect(try await room.replicate().json["ok"] == true)
        #expect(try await room.far.has("/a/y"))
    }
}
