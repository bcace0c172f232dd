internal import Foundation
internal import SettleCore
internal import SettleCrypto
internal import SettlePlatform

/// The positions up to which Couchbase Lite 1.x, TouchDB, CDTDatastore or sync-android has replicated.
///
///     replicators   remote ── a URL, or an id · push, startPush ── 1, 0, or -1 with an id · last_sequence
///     info          checkpoint/ID ── the position
///     localdocs     _local/ID ── {"lastSequence":…}
///
/// A position of a push is a sequence of the database, and one of a pull is the server's. An id is a digest of what the
/// replication is: the database, the server's URL and the direction. So the direction of such a position is known if the id
/// is computed again with the URL.
struct CouchbaseLite1Positions {
    private struct Position {
        /// The id, or the URL.
        let remote: String
        let isPush: Bool?
        /// The sequence; `nil` if the position is not a number. Most servers write positions of other forms.
        let sequence: UInt64?

        /// Whether it is the position of a push of all documents. An id may be that of a push with a filter, which has left
        /// documents out; the products that write a URL have no filters.
        var isProven: Bool { isPush == true && remote.contains("://") }
    }

    private let name: String
    private var positions: [Position] = []
    /// The ids of the database in the ids of positions: a prebuilt database has that of its origin, too.
    private var databases: [String] = []

    /// Reads the positions of a database.
    init(_ file: ForeignSQLiteFile) throws {
        name = file.name
        if file.has("info", "key", "value") {
            databases += try file.query("SELECT value FROM info WHERE +key = 'privateUUID'").all { $0.text(0) }
            let rows = try file.query(
                "SELECT substr(key, 12), value FROM info NOT INDEXED WHERE key LIKE 'checkpoint/%'")
            try rows.readRows { add($0.text(0), nil, $0.text(1)) }
        }
        for direction in ["push", "startPush"] where file.has("replicators", "remote", direction, "last_sequence") {
            try file.query("SELECT remote, \(direction), last_sequence FROM replicators NOT INDEXED").readRows { row in
                let push = row.integer(1)
                add(row.text(0), push == 0 || push == 1 ? push == 1 : nil, row.text(2))
            }
        }
        guard file.has("localdocs", "docid", "json") else { return }
        try file.query("SELECT docid, json FROM localdocs NOT INDEXED").readRows { row in
            guard let id = row.text(0), let value = row.bytes(1).flatMap({ try? JSONValue(utf8: $0) }) else { return }
            if id == "_local/CBL_LocalCheckpoint", let origin = value["localUUID"]?.string { databases.append(origin) }
            if let last = value["lastSequence"] { add(String(id.dropFirst(7)), nil, last.string ?? last.description) }
        }
    }

    private mutating func add(_ remote: String?, _ isPush: Bool?, _ value: String?) {
        guard let remote else { return }
        // CDTDatastore has {"seq":N}.
        let sequence = value.flatMap { text in
            UInt64(text) ?? (try? JSONValue(parsing: text))?["seq"]?.int.flatMap { UInt64(exactly: $0) }
        }
        positions.append(Position(remote: remote, isPush: isPush, sequence: sequence))
    }

    /// What the positions say of pushed documents.
    ///
    /// - Parameter server: The URL that the app synced with; `nil` for any.
    /// - Returns: The record.
    func record(to server: URL?) -> PushRecord {
        if positions.isEmpty { return .upTo(0) }
        var pushes = positions.filter { $0.isPush == true }
        if let server {
            let names = names(of: server)
            pushes = positions.filter { $0.isPush != false && names.contains($0.remote) }
            if pushes.isEmpty {
                let place = URLRedaction.text(server.absoluteString)
                return .unknown(
                    """
                    \(name) has no position of a push to \(place) without a filter: import all of it; a sync sends only what the \
                    server lacks
                    """)
            }
        } else if positions.contains(where: { $0.sequence != nil && $0.isPush != false && !$0.isProven }) {
            return .unknown(
                """
                \(name) does not say which of its positions are those of pushes without a filter: name the URL that the \
                app synced with, or import all of it; a sync sends only what the server lacks
                """)
        }
        return .upTo(pushes.map { $0.sequence ?? 0 }.min() ?? 0)
    }

    /// What a position of a push to a server may be called.
    private func names(of server: URL) -> Set<String> {
        let text = server.absoluteString
        let stem = text.hasSuffix("/") ? String(text.dropLast()) : text
        var names: Set = [stem, stem + "/"]
        for url in [stem, stem + "/"] {
            for database in databases {
                for continuous in [#""continuous":false,"#, ""] {
                    let (id, remote) = (JSONValue.string(database).description, JSONValue.string(url).description)
                    let spec = #"{\#(continuous)"localUUID":\#(id),"push":true,"remoteURL":\#(remote)}"#
                    // Some versions write a slash with a backslash.
                    for spelling in [spec, spec.replacing("/", with: #"\/"#)] {
                        names.insert(Hexadecimal.encode(SHA1.hash(Array(spelling.utf8))))
                    }
                }
            }
        }
        return names
    }
}
