import Settle
import SettleTesting

@testable import SettleServer

/// A server with a database `db`, and a proxy in front of it.
final class FaultyServer {
    let live: LiveServer
    let proxy: FaultProxy

    init(_ plan: FaultPlan = .none, _ change: (inout ServerOptions) -> Void = { _ in }) throws {
        live = try LiveServer(change)
        _ = try live.send("PUT", "/db")
        proxy = try FaultProxy(to: live.port, plan: plan)
    }

    convenience init(_ faults: Fault..., change: (inout ServerOptions) -> Void = { _ in }) throws {
        try self.init(.script(faults), change)
    }

    deinit { proxy.stop() }

    /// A connection through the proxy.
    func connect() throws -> RawConnection { try RawConnection(port: proxy.port) }

    /// A connection through the proxy that has sent a request.
    func begin(_ method: String, _ path: String, _ body: String? = nil) throws -> RawConnection {
        let connection = try connect()
        try connection.write(LiveServer.request(method, path, body))
        return connection
    }

    /// Whether the server has a document, requested without the proxy.
    func has(_ document: String) throws -> Bool {
        try live.send("GET", "/db/\(document)").head.hasPrefix("HTTP/1.1 200")
    }
}

extension RawConnection {
    /// What arrives until the connection ends, and how it ends; the ending is `nil` if it stays open for five minutes.
    func readToEnding() -> (text: String, ending: Fault.Ending?) {
        let (bytes, hasEnded) = readWhatComes(first: 300_000, then: 300_000)
        let ending: Fault.Ending? = hasEnded ? (wasReset ? .reset : .close) : nil
        return (String(decoding: bytes, as: UTF8.self), ending)
    }
}
