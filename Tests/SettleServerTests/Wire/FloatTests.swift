import Settle
import SettleDatabase
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// Floats keep their bits on all ways: a device's save, push and pull, and a document over HTTP.
@Suite(.timeLimit(.minutes(5))) struct FloatTests {
    /// Floats of random bits, and those at the edges of the subnormal ones.
    private static func values(seed: Int) -> [Double] {
        var random = SeededRandom(seed: UInt64(seed))
        var values = (0..<500).map { _ in Double(bitPattern: random.next()) }
        // Subnormal ones.
        values += (0..<500).map { _ in Double(bitPattern: random.next() >> UInt64(12 + random.below(52))) }
        for bit in 0..<52 as Range<UInt64> {
            values += [Double(bitPattern: 1 << bit), Double(bitPattern: (1 << bit) - 1)]
        }
        values += [.leastNonzeroMagnitude, .leastNormalMagnitude, .leastNormalMagnitude.nextDown]
        values += [.leastNormalMagnitude.nextUp, .greatestFiniteMagnitude, 0]
        // Those of one digit have no point in their shortest spelling.
        for digit in 1...9 { values += (300...324).compactMap { Double("\(digit)e-\($0)") } }
        values += values.map { -$0 }
        // The sign of a zero is not printed, as in CouchDB.
        return values.filter { $0.isFinite && !($0 == 0 && $0.sign == .minus) }
    }

    private func expectEqual(_ json: JSONValue?, _ values: [Double], _ comment: Comment) throws {
        let texts = try #require(json?.array).map { $0.number?.text ?? "" }
        #expect(texts.count == values.count, comment)
        for (text, value) in zip(texts, values) {
            // What a client reads, by the strictest reading.
            #expect(Double(text)?.bitPattern == value.bitPattern, "\(comment), \(value) as \(text)")
            #expect(JSONNumber(text: text)?.double.bitPattern == value.bitPattern, "\(comment), \(value) as \(text)")
        }
    }

    @Test(arguments: 1...5) func `a float keeps its bits`(seed: Int) async throws {
        let values = Self.values(seed: seed)
        let live = try LiveServer()
        try live.server.state.create("db")
        let (here, there) = (try Database.inMemory(), try Database.inMemory())
        // The shortest spelling, which Couchbase Lite and JavaScript send, too: `5e-324`.
        let list = "[\(values.map(\.description).joined(separator: ","))]"
        let text = "{\"n\":\(list)}"
        #expect(try live.send("PUT", "/db/put", text).head.hasPrefix("HTTP/1.1 201"))
        let body = try DocumentBody(try JSONValue(parsing: text))
        try here.save(Document(id: "pushed", body: body))
        let made = try DocumentBody(["n": .array(values.compactMap { JSONNumber($0).map(JSONValue.number) })])
        try here.save(Document(id: "made", body: made))
        let peer = try MobilePeer("ws://admin:admin@127.0.0.1:\(live.port)/db")
        try await OneWayReplicator(.push(here, to: peer)).run()
        try await OneWayReplicator(.pull(there, from: peer)).run()
        let http = try Database.inMemory()
        let couch = try CouchDBPeer(try HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/db"))
        try await OneWayReplicator(.pull(http, from: couch)).run()
        for id in ["put", "pushed", "made"] {
            for (database, name) in [(there, "WebSocket"), (http, "HTTP")] {
                let found = try database.document(DocumentID(unchecked: id))
                try expectEqual(found?["n"], values, "seed \(seed), \(id) over \(name)")
            }
            let got = try await live.ask("GET", "/db/\(id)").json
            try expectEqual(got["n"], values, "seed \(seed), GET \(id)")
            let again = try await live.ask("PUT", "/db/\(id)-again", ["n": got["n"] ?? .null])
            #expect(again.status == 201)
            try expectEqual(
                try await live.ask("GET", "/db/\(id)-again").json["n"], values, "seed \(seed), GET again \(id)")
        }
    }
}
