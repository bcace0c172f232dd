internal import SettleCore
internal import SettleDatabase
package import SettleMobile
internal import SettlePlatform
internal import SettleReplication

/// Requests and connections that are handled on the calling thread, in the order of the calls.
///
/// A simulation uses them: equal calls have equal answers, and no thread waits for another one.
extension InProcessServer {
    /// Answers a request about the database.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: What follows the name of the database in the address, with its query; percent-coded.
    ///   - body: The body, JSON unless `contentType` says otherwise.
    ///   - contentType: The type of the body.
    /// - Returns: The status, and a body that is not streamed; with status 500 nothing if the answer comes later.
    package func answer(
        _ method: String, _ path: String, body: [UInt8] = [], contentType: String = "application/json"
    ) -> (status: Int, body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in proof { headers.add(field.name, field.value) }
        if !body.isEmpty { headers.add("Content-Type", contentType) }
        let request = HTTPRequest(
            method: method, target: RequestTarget(url.path + path), headers: headers, body: BufferedBody(body))
        let response = router.respond(to: request)
        switch response.body {
        case .bytes(let bytes): return (response.status, bytes)
        case .stream, .upgrade: return (response.status, [])
        case .later: return (500, [])
        }
    }

    /// Connects a client of Couchbase Mobile's protocol as `GET /{db}/_blipsync` does, with the rights of an administrator.
    ///
    /// - Parameters:
    ///   - userAgent: What the client calls itself.
    ///   - limits: What the connection may cost.
    ///   - wake: Called when the server has something to send.
    /// - Returns: The server's end, which handles a message while it receives the message's last byte. The caller moves the bytes,
    ///   and ends the connection.
    package func connect(
        userAgent: String, _ limits: BLIPLimits = BLIPLimits(), wake: @escaping @Sendable () -> Void = {}
    ) -> BLIPConnection {
        let name = url.databaseName ?? ""
        var headers = HTTPHeaders()
        headers.add("User-Agent", userAgent)
        let request = HTTPRequest(
            method: "GET", target: RequestTarget(url.path + "/_blipsync"), headers: headers, body: BufferedBody())
        let context = RequestContext(
            server: state, request: request, parameters: ["db": name], user: User(name: "settle", roles: ["_admin"]),
            query: QueryParameters([]))
        let session = MobileSession(context, workers: WorkerPool(limit: 0), peer: "in process")
        let connection = BLIPConnection(
            isServer: true, limits: limits, handler: { session.take($0) }, wake: wake, ended: { session.end() })
        session.begin(connection)
        return connection
    }
}
