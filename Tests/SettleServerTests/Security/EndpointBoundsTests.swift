import Foundation
import Settle
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// The bounds of what anonymous clients and members may send: docs/SECURITY.md has them in a table, which is checked here.
@Suite(.timeLimit(.minutes(5))) struct EndpointBoundsTests {
    /// A row of the table: the form of a path, who may use it, and the largest body.
    struct Row: CustomTestStringConvertible, Sendable {
        let path: String
        let who: String
        let body: String
        var testDescription: String { path }
    }

    private static let rows: [Row] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/SECURITY.md")
        let text = (try? String(contentsOf: file.standardized, encoding: .utf8)) ?? ""
        let section = text.components(separatedBy: "### Bounds of each endpoint").last ?? ""
        let lines = section.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| `/") }
        return lines.flatMap { line -> [Row] in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells[0].matches(of: /`([^`]+)`/).map { Row(path: String($0.1), who: cells[1], body: cells[2]) }
        }
    }()

    private static let methods = ["GET", "PUT", "POST", "DELETE", "COPY"]

    /// The form of a route's path.
    private static func path(_ route: Route) -> String {
        "/"
            + route.pattern.parts.map { part in
                switch part {
                case .word(let word): word.contains("/") ? PercentCoding.encode(word) : word
                case .any(let name): "{\(name)}"
                case .rest(let name): "{\(name)...}"
                }
            }.joined(separator: "/")
    }

    /// The users that are not administrators and may use a route with one of its methods.
    private static func who(_ route: Route) -> String? {
        let kinds = methods.filter { route.endpoint($0) != nil }.map { route.access($0) }
        if kinds.contains(.anyone) { return "anyone" }
        if kinds.contains(.lister) { return "administrators, or anyone" }
        return kinds.contains(.member) ? "member" : nil
    }

    @Test func `the table has every endpoint of anonymous clients and members, once`() {
        let wanted = RoutingTable.routes.compactMap { route in Self.who(route).map { "\(Self.path(route)): \($0)" } }
        let given = Self.rows.map { "\($0.path): \($0.who)" }
        #expect(Set(wanted) == Set(given), "\(Set(wanted).symmetricDifference(given).sorted())")
        #expect(Set(given).count == given.count)
    }

    /// An endless body that counts how much of it is read.
    private final class EndlessBody: RequestBody {
        let declaredLength: Int64? = nil
        let count = Guarded(0)

        func read() -> [UInt8]? {
            count.withLock { $0 += 1024 }
            return Array(repeating: 0x20, count: 1024)
        }
    }

    @Test(arguments: rows)
    func `no endpoint takes more into memory than the table says`(row: Row) throws {
        let client = try RouterClient { $0.largestBody = 256 << 10 }
        #expect(try client.send("PUT", "/db").status == 201)
        let route = try #require(RoutingTable.routes.first { Self.path($0) == row.path })
        let bound = row.body == "64 KiB" ? 64 << 10 : 256 << 10
        #expect(["64 KiB", "`body_size`", "`body_size`; `PUT` `upload_size`"].contains(row.body))
        let (options, live) = (client.server.state.options, client.server.state.live.withLock(\.self))
        #expect(route.body.bytes("POST", options, live) == Int64(bound))
        let isStreamed = row.body.contains("upload_size")
        #expect(route.body.bytes("PUT", options, live) == (isStreamed ? 4 << 30 : Int64(bound)))
        let path = row.path.replacing("{db}", with: "db").replacing(/\{[a-z]+\.\.\.\}/, with: "x/y")
            .replacing(/\{[a-z]+\}/, with: "x")
        for method in ["POST", "PUT", "DELETE", "GET"] where route.endpoint(method) != nil {
            // An attachment goes into a file; docs of multipart are read part by part.
            if isStreamed, method == "PUT", row.path.contains("{file...}") { continue }
            let body = EndlessBody()
            let headers: HTTPHeaders = [
                "Host": "test", "Authorization": "Basic YWRtaW46YWRtaW4=", "Content-Type": "application/json",
            ]
            let request = ServerRequest(method: method, target: RequestTarget(path), headers: headers, body: body)
            let response = client.server.router.respond(to: request)
            if case .stream(let stream, _) = response.body.content { stream.end() }
            #expect(body.count.withLock(\.self) <= bound + 2048, "\(method) \(path)")
        }
    }

    @Test func `a long condition of an anonymous client is refused before it is read`() throws {
        let live = try LiveServer()
        for size in [65_537, 3 << 20, 28 << 20] {
            let connection = try live.connect()
            let head =
                "POST /_condition HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(size)\r\n\r\n"
            try connection.write(Array(head.utf8))
            // The server may close the connection before all has come.
            try? connection.write(Array(repeating: UInt8(ascii: " "), count: min(size, 8 << 20)))
            if size <= 8 << 20 { #expect(try connection.readAnswer().head.contains(" 413 ")) }
        }
        let client = try RouterClient()
        let most = "a=" + String(repeating: "1", count: 60_000)
        #expect(try client.send(as: "", "POST", "/_condition", ["text": .string(most)]).status == 200)
    }
}
