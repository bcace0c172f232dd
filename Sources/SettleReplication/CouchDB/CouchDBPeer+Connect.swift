internal import SettleCore
internal import SettleHTTP
internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension CouchDBPeer {
    /// Asks the server for its identity and the database for its update sequence.
    ///
    /// - Returns: The server's identity and the database's sequence. The instance's name contains the server's
    ///   `uuid` and, if they are meaningful, the database's `instance_start_time` or the mark in its sequences.
    /// - Throws: ``PeerError``: `notFound` if the database does not exist, `unauthorized`, `unreachable`,
    ///   `badAnswer` for a server that is not a CouchDB.
    public func connect() async throws -> PeerInfo {
        let calls = try calls()
        async let welcomed = welcome(calls)
        let (database, date) = try await calls.datedJSON("GET", "")
        guard let sequence = database["update_seq"] ?? database["committed_update_seq"] else {
            throw PeerError(
                .badAnswer, "\(name) is not a CouchDB database; check the URL", isTransient: false)
        }
        let server = await welcomed
        let product = Self.product(server)
        learnt.withLock {
            $0.isSettle = product == "Settle"
            $0.carried.isPossible = product == "Settle" || product == "CouchDB"
        }
        var info = PeerInfo(
            product: product, version: server["version"]?.string,
            instance: Self.instance(server, database, sequence, product), lastSequence: PeerSequence(sequence))
        info.isEmpty = database["doc_count"]?.int == 0 && database["doc_del_count"]?.int == 0
        info.serverTime = date.map { Date(timeIntervalSince1970: $0) }
        return info
    }

    /// Asks the server for the name of its product.
    ///
    /// - Returns: The name; `nil` if it is not known, for example because a proxy hides it.
    /// - Throws: ``PeerError`` if no request can be made.
    package func product() async throws -> String? { Self.product(await welcome(try calls())) }

    /// Creates the database unless it exists.
    ///
    /// - Throws: ``PeerError``: `unauthorized` or `forbidden` if the user may not create it.
    public func create() async throws {
        do { _ = try await calls().bytes("PUT", "") } catch let error as PeerError where error.status == 412 {}
    }

    /// The server's welcome response; empty if a proxy hides it.
    private func welcome(_ calls: PeerCalls) async -> JSONValue {
        (try? await calls.server.json("GET", "")) ?? .object(JSONObject())
    }

    private static func product(_ server: JSONValue) -> String? {
        if server["git_sha"] == "settle" { return "Settle" }
        if let vendor = server["vendor"]?["name"]?.string {
            return vendor == "The Apache Software Foundation" ? "CouchDB" : vendor
        }
        if server["express-pouchdb"] != nil { return "PouchDB Server" }
        return server["couchdb"] == nil ? nil : "CouchDB"
    }

    /// Settle marks its sequences with the instance name of the database. CouchDB 3 reports when the database was
    /// created. Earlier versions, and PouchDB in every version, report when it was opened, which identifies
    /// nothing.
    private static func instance(
        _ server: JSONValue, _ database: JSONValue, _ sequence: JSONValue, _ product: String?
    ) -> String? {
        let uuid = server["uuid"]?.string
        var mark: String?
        if product == "Settle" {
            mark = sequence.string?.split(separator: "-", maxSplits: 1).dropFirst().first.map(String.init)
        } else if product == "CouchDB", let major = server["version"]?.string?.split(separator: ".").first,
            Int(major).map({ $0 >= 3 }) == true, let start = database["instance_start_time"]?.string, start != "0"
        {
            mark = start
        }
        let parts = [uuid, mark].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }
}
