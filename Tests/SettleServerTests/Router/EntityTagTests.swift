import Settle
import SettleHTTP
import Testing

@testable import SettleServer

/// Which answers are 304, according to `If-None-Match`.
@Suite struct EntityTagTests {
    private func client() throws -> (RouterClient, paths: [String]) {
        let client = try RouterClient.withDatabase()
        let revision = try client.send("PUT", "/db/a", ["v": 1]).json["rev"]?.string ?? ""
        let stored = try client.send(
            "PUT", "/db/a/file?rev=\(revision)", bytes: Array("text".utf8), headers: ["Content-Type": "text/plain"])
        #expect(stored.status == 201)
        #expect(try client.send("PUT", "/db/_local/l", [:]).status == 201)
        return (client, ["/db/a", "/db/a/file", "/db/_local/l", "/db/_changes", "/db/a?attachments=true"])
    }

    @Test func `a tag matches weakly, alone, in a list, and as a star`() throws {
        let (client, paths) = try client()
        for path in paths {
            for method in ["GET", "HEAD"] {
                let accepts = path.hasSuffix("attachments=true") ? "multipart/related" : "application/json"
                let tag = try #require(try client.send(method, path, headers: ["Accept": accepts]).headers["ETag"])
                for given in [
                    tag, "W/" + tag, "\"x\", \(tag)", "\"x\",W/\(tag) , \"y\"", "*", " * ", "\"a, b\", \(tag)",
                ] {
                    let answer = try client.send(
                        method, path, headers: ["If-None-Match": given, "Accept": accepts])
                    #expect(answer.status == 304, "\(method) \(path) \(given)")
                    #expect(answer.headers["ETag"] == tag && answer.body.isEmpty)
                }
                for given in ["\"x\"", "W/\"x\"", "x", "", "W/", "\"*\"", "\"x, \(tag.dropFirst())"] {
                    let answer = try client.send(
                        method, path, headers: ["If-None-Match": given, "Accept": accepts])
                    #expect(answer.status == 200, "\(method) \(path) \(given)")
                }
            }
        }
    }
}
