import Foundation
import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// Two servers on sockets of this machine: the one that replicates, and another one.
///
/// Requests are sent from threads of their own, because replications need the pool's.
final class ReplicatorRoom {
    let near: LiveServer
    let far: LiveServer

    init(_ change: (inout ServerOptions) -> Void = { _ in }) async throws {
        near = try LiveServer { options in
            options.replicator.retryDelay = .milliseconds(50)
            options.replicator.longestRetryDelay = .milliseconds(200)
            change(&options)
        }
        far = try LiveServer()
        for server in [near, far] { #expect(try await server.ask("PUT", "/a").status == 201) }
    }

    /// The URL of a database, with the administrator's password.
    func url(_ server: LiveServer, _ path: String, _ credentials: String = "admin:admin@") -> JSONValue {
        .string("http://\(credentials)127.0.0.1:\(server.port)/\(path)")
    }

    /// Requests a replication from `a` here to a database there.
    func replicate(_ more: JSONObject = JSONObject(), to target: String = "a") async throws -> Answer {
        var body: JSONObject = ["source": url(near, "a"), "target": url(far, target)]
        for member in more { body[member.name] = member.value }
        return try await near.ask("POST", "/_replicate", .object(body))
    }

    /// Writes a replication document from `a` here to a database there.
    func order(_ id: String, _ more: JSONObject = JSONObject(), to target: String = "a") async throws -> Answer {
        var body: JSONObject = ["source": url(near, "a"), "target": url(far, target)]
        for member in more { body[member.name] = member.value }
        return try await near.ask("PUT", "/_replicator/\(id)", .object(body))
    }

    /// Waits until the scheduler reports a state for a document; `nil` for none.
    func wait(_ id: String, for state: String?, sourceLocation: SourceLocation = #_sourceLocation) async {
        await eventually("the state of \(id) is \(state ?? "gone")", sourceLocation: sourceLocation) {
            try await near.ask("GET", "/_scheduler/docs/_replicator/\(id)").json["state"]?.string == state
        }
    }

    /// Waits until there is no job.
    func waitForNoJob() async {
        await eventually("there is no job") {
            try await near.ask("GET", "/_scheduler/jobs").json["total_rows"] == 0
        }
    }
}

extension LiveServer {
    /// Sends one request, as the administrator by default, and reads the whole answer.
    func ask(
        _ method: String, _ path: String, _ body: JSONValue? = nil, as credentials: String = "admin:admin"
    ) async throws -> Answer {
        try await Self.ask(port, method, path, body, as: credentials)
    }

    /// The same for the server on a port.
    static func ask(
        _ port: Int, _ method: String, _ path: String, _ body: JSONValue? = nil, as credentials: String = "admin:admin"
    ) async throws -> Answer {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: application/json\r\n"
        if !credentials.isEmpty {
            text += "Authorization: Basic \(Data(credentials.utf8).base64EncodedString())\r\n"
        }
        let bytes = body?.description ?? ""
        if body != nil { text += "Content-Type: application/json\r\nContent-Length: \(bytes.utf8.count)\r\n" }
        let request = text + "\r\n" + bytes
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let connection = try RawConnection(port: port)
                        try connection.write(request)
                        let answer = try connection.readAnswer()
                        let status = answer.head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                        return Answer(status: status, headers: HTTPHeaders(), body: answer.body)
                    })
            }
        }
    }

    /// Whether a path exists.
    func has(_ path: String) async throws -> Bool { try await ask("GET", path).status == 200 }

    /// Waits for a path to exist.
    func wait(for path: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        await eventually("\(path) exists", sourceLocation: sourceLocation) { try await has(path) }
    }
}
