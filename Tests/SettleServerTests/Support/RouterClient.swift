import Dispatch
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

extension Router {
    /// The answer to a request if it needs no worker.
    func respondAtOnce(to request: ServerRequest) -> HTTPResponse? {
        if case .answered(let response) = plan(request) { response } else { nil }
    }

    /// The answer to a request, also if it comes later: once a password was verified, for one.
    func respondInTheEnd(to request: ServerRequest) -> HTTPResponse {
        var response = respond(to: request)
        while case .later(let deferred) = response.body.content {
            response = deferred.wait()
        }
        return response
    }
}

/// Sends requests to a router without a socket.
struct RouterClient {
    let folder: TemporaryFolder
    let server: Server

    init(_ change: (inout ServerOptions) -> Void = { _ in }) throws {
        try self.init(store: { try DocumentStore(path: $0.path) }, change)
    }

    init(store: (TemporaryFolder) throws -> any DatabaseStore, _ change: (inout ServerOptions) -> Void) throws {
        folder = try TemporaryFolder()
        var options = ServerOptions()
        options.security.admins = ["admin": "admin"]
        options.security.passwordIterations = 10
        change(&options)
        server = try Server(store: store(folder), options: options)
    }

    /// A client with a database `db`.
    static func withDatabase() throws -> RouterClient {
        let client = try RouterClient()
        #expect(try client.send("PUT", "/db").status == 201)
        return client
    }

    /// Sends a request and reads the whole answer; waits a while for a feed.
    func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, headers: HTTPHeaders = HTTPHeaders()
    ) throws -> Answer {
        try send(method, path, bytes: body?.utf8, headers: headers)
    }

    /// Sends a body that need not be JSON.
    func send(
        _ method: String, _ path: String, bytes: [UInt8]?, headers: HTTPHeaders = HTTPHeaders()
    ) throws -> Answer {
        var headers = headers
        if bytes != nil, headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
        if headers["Accept"] == nil { headers["Accept"] = "application/json" }
        headers["Host"] = "test"
        // Requests are the administrator's by default.
        if headers["Authorization"] == nil, headers["Cookie"] == nil {
            headers["Authorization"] = "Basic YWRtaW46YWRtaW4="
        }
        let request = ServerRequest(
            method: method, target: RequestTarget(path), headers: headers, body: BufferedBody(bytes ?? []))
        return try Self.read(server.router.respond(to: request))
    }

    private static func read(_ response: HTTPResponse) throws -> Answer {
        switch response.body.content {
        case .bytes(let bytes): return Answer(status: response.status, headers: response.headers, body: bytes)
        case .stream(let stream, let length):
            let body = try read(stream)
            if let length { #expect(length == Int64(body.count)) }
            return Answer(status: response.status, headers: response.headers, body: body)
        case .upgrade, .pieces: return Answer(status: response.status, headers: response.headers, body: [])
        case .later(let deferred):
            return try read(#require(deferred.wait(seconds: 300), "the answer never came"))
        }
    }

    private static func read(_ stream: any ResponseStream) throws -> [UInt8] {
        let woken = DispatchSemaphore(value: 0)
        stream.begin { woken.signal() }
        defer { stream.end() }
        var bytes: [UInt8] = []
        while true {
            switch try stream.next() {
            case .piece(let piece): bytes += piece
            case .end: return bytes
            case .wait: try #require(woken.wait(timeout: .now() + 300) == .success, "the feed was never woken")
            }
        }
    }
}
