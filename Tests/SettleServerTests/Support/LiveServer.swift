import Settle
import SettleTesting

@testable import SettleServer

/// A server that listens on a free port of this machine until the object is released.
final class LiveServer {
    let folder: TemporaryFolder
    let server: Server
    var port: Int { server.port }

    init(
        in folder: TemporaryFolder? = nil, databases: DatabaseOptions = DatabaseOptions(),
        _ change: (inout ServerOptions) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        var options = ServerOptions()
        options.port = 0
        options.stopTimeout = .seconds(2)
        options.security.admins = ["admin": "admin"]
        options.security.passwordIterations = 10
        change(&options)
        server = Server(store: try DocumentStore(path: folder.path, options: databases), options: options)
        try server.start()
    }

    deinit { server.stop() }

    func connect(seconds: Int = RawConnection.waitLimit) throws -> RawConnection {
        try RawConnection(port: port, seconds: seconds)
    }

    /// Sends one request on a connection of its own.
    func send(_ method: String, _ path: String, _ body: String? = nil) throws -> (head: String, body: [UInt8]) {
        let connection = try connect()
        try connection.write(Self.request(method, path, body))
        return try connection.readAnswer()
    }

    static func request(_ method: String, _ path: String, _ body: String? = nil) -> String {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: test\r\nAccept: application/json\r\n"
        if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
        return text + "\r\n" + (body ?? "")
    }
}
