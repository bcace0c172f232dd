import Foundation
import Settle
import SettleDatabase
import SettleReplication

/// A server of databases for a test: one of Settle in this process, or the CouchDB of `SETTLE_COUCHDB_URL`.
struct PeerHome: CustomStringConvertible {
    let description: String
    private let live: LiveServer?

    /// The servers that are at hand.
    static var all: [Kind] { ProcessInfo.processInfo.environment["SETTLE_COUCHDB_URL"] == nil ? [.settle] : Kind.allCases }

    enum Kind: String, CaseIterable, Sendable { case settle, couchdb }

    init(_ kind: Kind) throws {
        description = kind.rawValue
        switch (kind, ProcessInfo.processInfo.environment["SETTLE_COUCHDB_URL"]) {
        case (.couchdb, _?): live = nil
        default: live = try LiveServer()
        }
    }

    var isSettle: Bool { live != nil }

    /// A database that is not there yet.
    func peer(
        client: any HTTPClient = CurlHTTPClient(), _ change: (inout CouchDBPeerOptions) -> Void = { _ in }
    ) throws -> CouchDBPeer {
        var options = CouchDBPeerOptions()
        change(&options)
        return try CouchDBPeer(url(), credentials: nil, client: client, options: options)
    }

    /// The address of a database that is not there yet.
    func url() throws -> HTTPURL {
        let name = "peer-" + String(UInt64.random(in: .min ... .max), radix: 36)
        if let live { return try live.url(name) }
        let couch = try HTTPURL(ProcessInfo.processInfo.environment["SETTLE_COUCHDB_URL"] ?? "")
        return couch.appending(HTTPPath(segments: [name]))
    }
}
