import Settle
import SettleHTTP
import SettleReplication
import SettleServer
import SettleTesting
import Testing

@testable import SettleCommands

/// The least and greatest integers as settings of the configuration file. A server runs in this process with the greatest and the
/// least that are accepted, and answers requests that count with them; an overflow would end the process.
@Suite(.timeLimit(.minutes(5))) struct ExtremeSettingFileTests {
    private static let numbers = [
        "-9223372036854775809", "-9223372036854775808", "-1", "0", "1", "2", "65535", "65536", "86400", "86401",
        "1000000",
        "1000000000", "1000000001", "2147483647", "2147483648", "4294967295", "4294967296", "1073741824",
        "1125899906842624", "9223372036854775807", "9223372036854775808", "18446744073709551615", "1e18", "1e308",
        "0.5",
    ]

    /// The settings that are numbers, as paths in the file.
    private static let names: [[String]] =
        ServeSetting.all.compactMap { setting in
            if case .count = setting.kind, setting.isInFile, !setting.name.hasPrefix("postgres") {
                return [setting.name]
            }
            return nil
        } + [
            ["password_iterations"], ["session_timeout"], ["lockout_threshold"], ["lockout_seconds"],
            ["cors", "max_age"],
            ["replicator", "max_jobs"], ["replicator", "turn"], ["replicator", "retry_delay"],
            ["replicator", "longest_retry_delay"],
        ]

    private func settings(_ file: String) throws -> ServeSettings {
        let arguments = try ArgumentParser(spec: ServeCommand.spec).parse(["--config", "file"])
        return try ServeSettings(arguments, environment: [:]) { _ in Array(file.utf8) }
    }

    private static func file(_ values: [[String]: String]) -> String {
        var members: [String: [String]] = ["cors": [#""origins":["https://app.example"]"#]]
        var whole: [String] = []
        for (path, value) in values {
            if path.count == 2 {
                members[path[0], default: []].append("\"\(path[1])\":\(value)")
            } else {
                whole.append("\"\(path[0])\":\(value)")
            }
        }
        whole += members.map { "\"\($0.key)\":{\($0.value.joined(separator: ","))}" }
        return "{\(whole.joined(separator: ","))}"
    }

    @Test func `every number is refused or can be served with`() async throws {
        var (least, greatest): ([[String]: String], [[String]: String]) = ([:], [:])
        for name in Self.names {
            let accepted = Self.numbers.filter { (try? settings(Self.file([name: $0]))) != nil }
            let sorted = accepted.sorted { (Double($0) ?? 0) < (Double($1) ?? 0) }
            #expect(!sorted.isEmpty, "\(name)")
            (least[name], greatest[name]) = (sorted.first, sorted.last)
        }
        // The hash of a password would take minutes, and a timeout of nothing cuts off every request.
        for name in [["password_iterations"], ["port"]] { (least[name], greatest[name]) = (nil, nil) }
        for values in [greatest, least] {
            var options = try settings(Self.file(values)).options
            options.port = 0
            options.stopTimeout = .seconds(2)
            options.security.admins = ["admin": "admin"]
            options.security.passwordIterations = 10
            let folder = try TemporaryFolder()
            let server = Server(store: try DocumentStore(path: folder.path), options: options)
            try server.start()
            defer { server.stop() }
            try await use(server)
        }
    }

    private func use(_ server: Server) async throws {
        let root = try HTTPURL("http://admin:admin@127.0.0.1:\(server.port)")
        let connection = CouchDBConnection(server: root, client: DefaultTransport())
        func ask(_ method: String, _ path: HTTPPath, _ text: String? = nil) async -> Int? {
            let body = text.map { HTTPBody.bytes(Array($0.utf8)) } ?? .none
            let answer = try? await connection.stream(method, path, body: body) { request in
                request.timeout = .seconds(300)
                request.headers["Origin"] = "https://app.example"
                request.headers["Access-Control-Request-Method"] = "GET"
                if text != nil { request.headers["Content-Type"] = "application/json" }
            }
            _ = try? await answer?.collect(limit: 1 << 20)
            return answer?.status
        }
        // The least idle limit ends a connection whose client stands still for a second.
        await eventually("it answers") { await ask("GET", "_up") == 200 }
        _ = await ask("PUT", "db")
        _ = await ask("PUT", "db/a", #"{"n":1}"#)
        _ = await ask("POST", "db", String(repeating: " ", count: 3_000_000))
        _ = await ask("POST", "_session", #"{"name":"admin","password":"admin"}"#)
        _ = await ask("POST", "_session", #"{"name":"admin","password":"wrong"}"#)
        _ = await ask("OPTIONS", "db")
        _ = await ask("PUT", "_replicator/r", #"{"source":"http://127.0.0.1:1/x","target":"http://127.0.0.1:1/y"}"#)
        await eventually("it still answers") { await ask("GET", "_up") == 200 }
    }
}
