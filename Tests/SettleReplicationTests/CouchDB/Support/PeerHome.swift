import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleReplication

/// A kind of server for a test's databases.
enum ServerKind: String, CaseIterable, Sendable {
    /// Settle, in this process.
    case settle
    /// The CouchDB of `SETTLE_COUCHDB_URL`.
    case couchdb

    /// The available kinds.
    static var all: [ServerKind] { couchDB == nil ? [.settle] : allCases }

    fileprivate static var couchDB: String? { ProcessInfo.processInfo.environment["SETTLE_COUCHDB_URL"] }
}

/// The servers of a test, which run until the object is released.
final class PeerHome: Sendable {
    private let live = Guarded<LiveServer?>(nil)

    /// A database that does not exist yet.
    func peer(
        _ kind: ServerKind, client: any HTTPTransport = DefaultTransport(),
        _ change: (inout CouchDBPeerOptions) -> Void = { _ in }
    ) throws -> CouchDBPeer {
        var options = CouchDBPeerOptions()
        change(&options)
        return try CouchDBPeer(url(kind), client: client, options: options)
    }

    /// The address of a database that does not exist yet.
    func url(_ kind: ServerKind) throws -> HTTPURL {
        let name = "peer-" + String(UInt64.random(in: .min ... .max), radix: 36)
        if kind == .couchdb, let couch = ServerKind.couchDB {
            return try HTTPURL(couch).appending(HTTPPath(segments: [name]))
        }
        let server = try live.withLock { live in
            let server = try live ?? LiveServer()
            live = server
            return server
        }
        return try server.url(name)
    }
}
