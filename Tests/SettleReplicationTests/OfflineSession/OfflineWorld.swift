import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleReplication

/// A client with a session, a server over HTTP, another client that writes there, and one clock for all of them.
final class OfflineWorld: Sendable {
    let database: Database
    let session: OfflineSession
    let peer: CouchDBPeer
    let remote: CouchDBConnection
    let url: HTTPURL
    private let home: PeerHome
    private let minutes: Guarded<Int64>
    private let warned: Guarded<[String]>
    /// The database's warnings.
    var warnings: [String] { warned.withLock { $0 } }

    init(_ kind: ServerKind, _ change: (inout OfflineSessionOptions) -> Void = { _ in }) async throws {
        let minutes = Guarded<Int64>(9 * 60)
        self.minutes = minutes
        let warned = Guarded<[String]>([])
        self.warned = warned
        home = PeerHome()
        let url = try home.url(kind)
        self.url = url
        peer = try CouchDBPeer(url)
        try await peer.create()
        remote = CouchDBConnection(database: url, client: DefaultTransport())
        var databaseOptions = DatabaseOptions()
        databaseOptions.journal = true
        databaseOptions.now = { Date(milliseconds: minutes.withLock { $0 } * 60_000) }
        databaseOptions.warn = { message in warned.withLock { $0.append(message) } }
        database = try Database.inMemory(options: databaseOptions)
        var options = OfflineSessionOptions()
        options.stampAttribute = "updatedat"
        options.stamp = { .string(Self.text($0)) }
        options.time = { _ in Date(milliseconds: minutes.withLock { $0 } * 60_000) }
        options.retry.firstDelay = .milliseconds(1)
        change(&options)
        session = try OfflineSession(database, server: peer, options: options)
    }

    /// Sets the clock: `9:10`.
    func time(_ hours: Int64, _ minute: Int64) { minutes.withLock { $0 = hours * 60 + minute } }

    private static func text(_ date: Date) -> String {
        let minutes = date.milliseconds / 60_000
        let rest = minutes % 60
        return "\(minutes / 60):\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Another client writes at the server.
    func write(_ id: DocumentID, _ members: JSONObject) async throws {
        var body = JSONValue.object(members)
        if let revision = try? await remote.json("GET", .document(id)).json["_rev"] { body["_rev"] = revision }
        _ = try await remote.json("PUT", .document(id), body: body)
    }

    /// Another client deletes a document at the server.
    func delete(_ id: DocumentID) async throws {
        let revision = try #require(try await remote.json("GET", .document(id)).json["_rev"]?.string)
        _ = try await remote.json("DELETE", .document(id), query: ["rev": revision])
    }

    /// The start of the reference's tables: one record, the same on both sides, at 9:00.
    func begin() async throws {
        try await write("1", ["name": "item1", "updatedat": "9:00"])
        let status = try await session.goOnline()
        #expect(status.state == .online)
    }

    /// Changes a member of a stored document here.
    func set(_ id: DocumentID, _ name: String, _ value: JSONValue) throws {
        var document = try #require(try database.document(id))
        document[name] = value
        try database.save(document, onConflict: .fail)
    }

    /// The rows of the client's history: `UPDATE 1 item1 item1_1`.
    func history() throws -> [String] {
        try session.journal.history().map { entry in
            let names = [entry.old, entry.new].map { $0?.body["name"]?.string ?? "-" }
            return "\(entry.operation.rawValue) \(entry.documentID) \(names[0]) \(names[1])"
        }
    }

    /// The head of the client's table: `Client (9:00) ONLINE`.
    var head: String {
        let status = session.status
        return "Client (\(status.lastSyncDate.map(Self.text) ?? "-")) \(status.state.rawValue)"
    }

    /// The client's rows: `1 item1 9:00`.
    func client() throws -> [String] {
        try database.changes().compactMap { try database.document($0.id) }.sorted { $0.id < $1.id }.map { document in
            "\(document.id) \(document["name"]?.string ?? "?") \(document["updatedat"]?.string ?? "-")"
        }
    }

    /// The server's rows: `1 item1 9:00 false`.
    func server() async throws -> [String] {
        let rows = try await remote.json("GET", "_all_docs", query: ["include_docs": "true"]).json["rows"]?.array
        return (rows ?? []).compactMap(\.["doc"]).map { document in
            let stamp = document["updatedat"]?.string ?? "-"
            return "\(document["_id"]?.string ?? "?") \(document["name"]?.string ?? "?") \(stamp) false"
        }
    }

    /// Compares all cells of the three tables.
    func expect(
        _ head: String, history: [String], client: [String], server: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(self.head == head, sourceLocation: sourceLocation)
        #expect(try self.history() == history, sourceLocation: sourceLocation)
        #expect(try self.client() == client, sourceLocation: sourceLocation)
        #expect(try await self.server() == server, sourceLocation: sourceLocation)
        #expect(try database.verify().problems == [], sourceLocation: sourceLocation)
    }
}
