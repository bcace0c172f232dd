internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
import SettleReplication

/// Reads the changes of a database: those there are, or a server's feed without end, which goes on over lost connections.
struct ChangeFeed {
    let client: Client
    let console: Console
    /// The query parameters except the position.
    var query: HTTPQuery
    /// The requested interval of heartbeats, in seconds.
    private static let heartbeat = 15

    /// Calls a closure with each existing change.
    func forEach(since: String?, limit: Int, _ body: (ChangeLine) throws -> Bool) throws {
        var query = query
        query["since"] = since
        if limit < .max { query["limit"] = String(limit) }
        try client.forEachElement("results", of: "_changes", query: query) { try body(client.change($0)) }
    }

    /// Calls a closure with existing and future changes, until it returns false or Ctrl-C is pressed.
    func follow(since: String?, _ body: (ChangeLine) throws -> Bool) throws {
        var since = since
        var failures = 0
        while true {
            do {
                let goesOn = try readFeed(since: since) { line in
                    failures = 0
                    since = PeerSequence(line.sequence).description
                    return try line.id == nil || body(line)
                }
                if !goesOn { return }
            } catch let error as CommandError
                where since != nil && Self.mayPass(error)
            {
                failures += 1
                try waitForServer(error, failures)
            }
        }
    }

    /// Reads lines until the feed ends; returns whether to continue.
    private func readFeed(since: String?, _ body: (ChangeLine) throws -> Bool) throws -> Bool {
        var query = query
        query["since"] = since
        query["feed"] = "continuous"
        query["heartbeat"] = String(Self.heartbeat * 1000)
        let response = try client.stream("_changes", query: query) {
            $0.idleTimeout = .seconds(3 * Self.heartbeat)
        }
        var line: [UInt8] = []
        let next = client.pieces(of: response)
        while let piece = try next() {
            var rest = piece[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                line += rest[..<end]
                rest = rest[(end + 1)...]
                // An empty line is a heartbeat.
                guard line.contains(where: { $0 > 0x20 }) else {
                    line = []
                    continue
                }
                let change = try client.change(line)
                line = []
                guard try body(change) else { return false }
            }
            line += rest
            try console.output.flush()
        }
        return true
    }

    private static func mayPass(_ error: CommandError) -> Bool {
        ["connection_lost", "cannot_connect", "cannot_resolve", "timed_out", "proxy_failed", "server_error", "busy"]
            .contains(error.code)
    }

    private func waitForServer(_ error: CommandError, _ failures: Int) throws {
        if failures == 1 {
            console.complain(
                "settle: \(error.message); retrying",
                json: ["warning": .string(error.message)])
        }
        let pause = ReplicationRetryPolicy().delay(after: failures, jitter: .random(in: 0...1), retryAfter: nil)
        try Waiting.wait { try await Task.sleep(for: min(pause, .seconds(30))) }
    }
}

// MARK: - ChangeLine

/// A row of `_changes`, as `settle changes` shows it.
struct ChangeLine {
    /// The position, which only the one who gave it can read.
    var sequence: JSONValue
    /// The document's id; `nil` for a row that ends a feed.
    let id: String?
    /// The leaves to show, the winner first.
    let leaves: [RevisionID]
    let isDeleted: Bool
    /// The winner, where documents were asked for.
    let document: Document?

    /// Reads a row of `_changes`.
    init(_ row: [UInt8]) throws {
        let outline = try JSONOutline(row)
        func value(_ name: String) throws -> JSONValue? {
            try outline[name].map { try JSONValue(utf8: Array(row[$0])) }
        }
        sequence = try value("seq") ?? value("last_seq") ?? .null
        id = try value("id")?.string
        leaves = try (value("changes")?.array ?? []).compactMap { $0["rev"]?.string.flatMap { RevisionID($0) } }
        isDeleted = try value("deleted") == true
        document = try outline["doc"].flatMap { range in
            row[range].first == UInt8(ascii: "{") ? try ReplicatedRevision(answer: Array(row[range])).document : nil
        }
    }

    /// The position for people.
    var position: String { PeerSequence(sequence).shortened }
}

extension PeerSequence {
    /// The position for people: a long one by its beginning.
    var shortened: String { description.count > 24 ? "\(description.prefix(16))…" : description }
}

extension Client {
    /// Reads a row of `_changes`. The positions of a folder are numbers for those who use it.
    func change(_ row: [UInt8]) throws -> ChangeLine {
        var line = try ChangeLine(row)
        line.sequence = position(line.sequence)
        return line
    }
}
