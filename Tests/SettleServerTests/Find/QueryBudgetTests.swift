import Dispatch
import Settle
import SettleCore
import SettleHTTP
import SettlePlatform
import SettleTesting
import SettleViews
import Testing

@testable import SettleServer

/// What one query may cost.
@Suite(.timeLimit(.minutes(5))) struct QueryBudgetTests {
    private static let hostile: JSONValue = ["selector": ["a": ["$elemMatch": ["$regex": "^(a+)+$"]]]]

    /// A client with documents of a thousand elements; a search in one element takes its whole budget.
    private static func client(
        _ documents: Int, _ change: (inout ServerOptions) -> Void = { _ in }
    ) throws -> RouterClient {
        let client = try RouterClient(change)
        #expect(try client.send("PUT", "/db").status == 201)
        let text = JSONValue.string(String(repeating: "a", count: 40) + "!")
        let body: JSONValue = ["a": .array([JSONValue](repeating: text, count: 1000))]
        let batch: JSONValue = ["docs": .array([JSONValue](repeating: body, count: documents))]
        #expect(try client.send("POST", "/db/_bulk_docs", batch).status == 201)
        return client
    }

    @Test func `a query that takes too many steps ends with an error that says what helps`() throws {
        let client = try Self.client(10) { $0.querySteps = 2_000_000 }
        let answer = try client.send("POST", "/db/_find", Self.hostile)
        #expect(answer.status == 400 && answer.error.hasPrefix("query_too_expensive: "))
    }

    @Test func `a query that takes too long ends, by the time of its processor`() throws {
        let client = try Self.client(60) { $0.queryTime = .milliseconds(1) }
        let answer = try client.send("POST", "/db/_find", ["selector": ["a": ["$size": 3]]])
        #expect(answer.status == 400 && answer.error.hasPrefix("query_too_expensive: "))
    }

    @Test func `a query ends when its client has gone`() throws {
        let client = try Self.client(20)
        var request = ServerRequest(
            method: "POST", target: RequestTarget("/db/_find"),
            headers: ["Authorization": "Basic YWRtaW46YWRtaW4=", "Content-Type": "application/json"],
            body: BufferedBody(#"{"selector":{"x":1}}"#.utf8.map { $0 }))
        request.life.abandon()
        let response = client.server.router.respond(to: request)
        #expect(response.status == 408)
        request.body = BufferedBody(#"{"selector":{"x":1}}"#.utf8.map { $0 })
        request.life = RequestLife()
        #expect(client.server.router.respond(to: request).status == 200)
    }

    @Test func `a server notices that the client of a request has gone while the answer is being made`() throws {
        let outcome = Monitor<Bool?>(nil)
        let started = Monitor(false)
        var options = ListenerOptions()
        options.port = 0
        let transport = try MicroHTTPDListener(
            options,
            handler: HTTPHandler(plan: { request in
                .work {
                    started.update { $0 = true }
                    waitUntil { request.life.isAbandoned }
                    outcome.update { $0 = request.life.isAbandoned }
                    return HTTPResponse(status: 200)
                }
            }))
        defer { transport.stop(within: 1) }
        let connection = try RawConnection(port: transport.port)
        try connection.write(LiveServer.request("GET", "/"))
        _ = started.wait { $0 ? true : nil }
        connection.abort()
        #expect(outcome.wait { $0 })
    }

    @Test func `a search that would backtrack for long costs other documents little`() throws {
        let client = try RouterClient.withDatabase()
        let text = String(repeating: "a", count: 40) + "!"
        let batch: JSONValue = ["docs": .array([JSONValue](repeating: ["a": .string(text)], count: 500))]
        #expect(try client.send("POST", "/db/_bulk_docs", batch).status == 201)
        let answer = try client.send("POST", "/db/_find", ["selector": ["a": ["$regex": "^(a+)+$"]]])
        #expect(answer.status == 200 && answer.json["docs"] == [])
    }
}
