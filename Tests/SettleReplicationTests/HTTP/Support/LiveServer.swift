import Settle
import SettleHTTP
import SettleServer
import SettleTesting

/// A server that listens on a free port of this machine until the object is released.
final class LiveServer: Sendable {
    let folder: TemporaryFolder
    let server: Server
    let scheme: String

    init(_ change: (inout ServerOptions) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        var options = ServerOptions()
        options.port = 0
        options.stopTimeout = .seconds(2)
        options.security.admins = ["admin": "secret-word"]
        options.security.passwordIterations = 10
        change(&options)
        scheme = options.certificate == nil ? "http" : "https"
        server = Server(store: try DocumentStore(path: folder.path), options: options)
        try server.start()
    }

    deinit { server.stop() }

    /// The address of a path.
    func url(_ path: String = "", credentials: String = "admin:secret-word@") throws -> HTTPURL {
        try HTTPURL("\(scheme)://\(credentials)localhost:\(server.port)/\(path)")
    }
}
