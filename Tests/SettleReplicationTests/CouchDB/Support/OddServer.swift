import SettleDatabase
import SettleHTTP
import SettlePlatform

@testable import SettleReplication

/// A server whose responses a test makes up, request by request.
final class OddServer: Sendable {
    struct Request: Sendable {
        let method: String
        /// The path and the query.
        let target: String
        let head: String
        /// The expanded body.
        let body: [UInt8]

        var path: String { String(target.prefix { $0 != "?" }) }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// A response: its bytes, and whether the connection is cut after them.
    struct Answer: Sendable {
        var bytes: [UInt8]
        var isCut = false

        init(bytes: [UInt8], isCut: Bool = false) { (self.bytes, self.isCut) = (bytes, isCut) }

        init(_ status: Int, _ json: String, headers: [String] = []) {
            self.init(status, Array(json.utf8), headers: ["Content-Type: application/json"] + headers)
        }

        init(_ status: Int, _ body: [UInt8], headers: [String]) {
            let lines = ["HTTP/1.1 \(status) X", "Content-Length: \(body.count)"] + headers
            bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
        }
    }

    private let server: RawServer
    private let log: Guarded<[Request]>

    init(_ answer: @escaping @Sendable (Request) throws -> Answer) throws {
        let log = Guarded<[Request]>([])
        self.log = log
        server = try RawServer { connection in
            while let (head, body) = try connection.readRequest() {
                let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
                let isCompressed = head.lowercased().contains("content-encoding: gzip")
                let request = Request(
                    method: String(words[0]), target: String(words[1]), head: head,
                    body: isCompressed ? try Deflate.expand(body, .gzip, limit: 64 << 20) ?? [] : body)
                log.withLock { $0.append(request) }
                let answer = try answer(request)
                try connection.write(answer.bytes)
                if answer.isCut { return }
            }
        }
    }

    /// The address of the server.
    var url: String { server.url }

    /// The requests, in order.
    var requests: [Request] { log.withLock { $0 } }

    /// Accepts no more connections.
    func stop() { server.stop() }

    /// How often a path was requested.
    func count(_ path: String) -> Int { requests.count { $0.path == path } }

    /// A database on it.
    func peer(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        change: (inout CouchDBPeerOptions) -> Void = { _ in }
    ) throws -> CouchDBPeer {
        var options = CouchDBPeerOptions()
        change(&options)
        return try CouchDBPeer(
            HTTPURL(server.url + "/db"), credentials: nil, client: DefaultTransport(), options: options, now: now,
            onWarning: { _ in })
    }
}
