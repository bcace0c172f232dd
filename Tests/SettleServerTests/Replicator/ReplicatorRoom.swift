import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Two servers on sockets of this machine: the one that is asked, and another one.
final class ReplicatorRoom {
    let near: LiveServer
    let far: LiveServer

    init(_ change: (inout ServerOptions) -> Void = { _ in }) throws {
        near = try LiveServer { options in
            options.replicator.retryDelay = 0.05
            options.replicator.longestRetryDelay = 0.2
            change(&options)
        }
        far = try LiveServer()
        for server in [near, far] { #expect(try server.ask("PUT", "/a").status == 201) }
    }

    /// The address of a database, with the administrator's password.
    func url(_ server: LiveServer, _ path: String, _ credentials: String = "admin:admin@") -> JSON {
        .string("http://\(credentials)127.0.0.1:\(server.port)/\(path)")
    }

    /// Asks for a replication from `a` here to a database there.
    func replicate(_ more: JSONObject = JSONObject(), to target: String = "a") throws -> Answer {
        var body: JSONObject = ["source": url(near, "a"), "target": url(far, target)]
        for member in more { body[member.name] = member.value }
        return try near.ask("POST", "/_replicate", .object(body))
    }

    /// Writes a document that asks for a replication from `a` here to a database there.
    func order(_ id: String, _ more: JSONObject = JSONObject(), to target: String = "a") throws -> Answer {
        var body: JSONObject = ["source": url(near, "a"), "target": url(far, target)]
        for member in more { body[member.name] = member.value }
        return try near.ask("PUT", "/_replicator/\(id)", .object(body))
    }

    /// What the scheduler says of a document.
    func state(_ id: String) -> String? {
        (try? near.ask("GET", "/_scheduler/docs/_replicator/\(id)"))?.json["state"]?.string
    }

    /// Waits until the scheduler says something of a document.
    func wait(_ id: String, for state: String, sourceLocation: SourceLocation = #_sourceLocation) {
        waitUntil({ self.state(id) == state }, sourceLocation: sourceLocation)
    }

    /// Whether a document is there.
    func has(_ server: LiveServer, _ path: String) -> Bool { (try? server.ask("GET", path))?.status == 200 }
}

extension LiveServer {
    /// Sends one request, the administrator's unless it says otherwise, and reads the whole answer.
    func ask(
        _ method: String, _ path: String, _ body: JSON? = nil, as credentials: String = "admin:admin"
    ) throws -> Answer {
        let connection = try connect(seconds: 60)
        var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: application/json\r\n"
        if !credentials.isEmpty {
            text += "Authorization: Basic \(Data(credentials.utf8).base64EncodedString())\r\n"
        }
        let bytes = body?.description ?? ""
        if body != nil { text += "Content-Type: application/json\r\nContent-Length: \(bytes.utf8.count)\r\n" }
        try connection.write(text + "\r\n" + bytes)
        let answer = try connection.readAnswer()
        let status = answer.head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, headers: HTTPHeaders(), body: answer.body)
    }
}
