import Settle
import SettleCore
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// Pulls through filter functions of design documents, from a real server that runs them.
@Suite(.timeLimit(.minutes(5))) struct FilteredPullTests {
    private let live: LiveServer

    init() throws {
        live = try LiveServer { $0.scripts = .built }
        _ = try live.send("PUT", "/db")
        for number in 0..<20 {
            _ = try live.send(
                "PUT", "/db/d\(number)", #"{"n":\#(number),"worker":"\#(number % 2 == 0 ? "ada" : "bob")"}"#)
        }
    }

    private func design(_ name: String, _ filter: String, over revision: String? = nil) throws -> String {
        var members: JSONValue = ["filters": ["f": .string(filter)]]
        members["_rev"] = revision.map(JSONValue.string)
        let answer = try live.send("PUT", "/db/_design/\(name)", members.description)
        return try #require(try JSONValue(utf8: answer.body)["rev"]?.string)
    }

    private func pull(_ database: Database, _ parameters: [String: JSONValue] = [:]) async throws -> ReplicationResult {
        let url = try HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/db")
        var configuration = ReplicationConfiguration.pull(database, from: try CouchDBPeer(url))
        configuration.filter = .named("w/f", parameters: parameters)
        return try await OneWayReplicator(configuration).run()
    }

    // SEMANTICS 128, 129, 131
    @Test func `a function of the source filters, with parameters of any type`() async throws {
        _ = try design(
            "w",
            """
            function (doc, req) {
              if (doc._id.charAt(0) === '_') return false;
              var above = JSON.parse(req.query.above), sets = JSON.parse(req.query.sets);
              return doc.worker === req.query.worker && doc.n > above && sets.numbers.indexOf(doc.n) >= 0
                && req.query.strict === 'true';
            }
            """)
        let device = try TemporaryDatabase(.memory)
        let parameters: [String: JSONValue] = [
            "worker": "ada", "above": 4, "strict": true, "sets": ["numbers": [2, 4, 6, 8, 9]],
        ]
        _ = try await pull(device.database, parameters)
        #expect(Set(try device.database.documents().map(\.id)) == ["d6", "d8"])
        // A plain deletion has lost its members and does not pass; one that keeps them does.
        let six = try #require(try device.database.document("d6")?.revision)
        let eight = try #require(try device.database.document("d8")?.revision)
        _ = try live.send("DELETE", "/db/d6?rev=\(six)")
        _ = try live.send("PUT", "/db/d8?rev=\(eight)", #"{"_deleted":true,"n":8,"worker":"ada"}"#)
        _ = try await pull(device.database, parameters)
        #expect(Set(try device.database.documents().map(\.id)) == ["d6"])
    }

    /// COUCHDB-892
    @Test func `a changed filter function filters all documents again`() async throws {
        let first = try design("w", "function (doc) { return doc.worker === 'ada' }")
        let device = try TemporaryDatabase(.memory)
        #expect(try await pull(device.database).counts.revisionsWritten == 10)
        // Replicating again reads nothing again.
        #expect(try await pull(device.database).counts.revisionsChecked == 0)
        // Changing another member of the design document does not change the function.
        let body: JSONValue = [
            "_rev": .string(first), "note": "x", "filters": ["f": "function (doc) { return doc.worker === 'ada' }"],
        ]
        let second = try #require(
            try JSONValue(utf8: live.send("PUT", "/db/_design/w", body.description).body)["rev"]?.string)
        #expect(try await pull(device.database).counts.revisionsChecked == 0)
        _ = try design("w", "function (doc) { return doc.worker === 'bob' }", over: second)
        #expect(try await pull(device.database).counts.revisionsWritten == 10)
        #expect(try device.database.documents().count == 20)
    }

    @Test func `a missing filter function is an error, and nothing is pulled`() async throws {
        let device = try TemporaryDatabase(.memory)
        await #expect(throws: PeerError.self) { try await pull(device.database) }
        #expect(try device.database.documents().isEmpty)
    }
}
