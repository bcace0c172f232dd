import Foundation
import Settle
import SettleScripting
import SettleServer
import SettleTesting
import Testing

/// A temporary folder in which the real tool runs, and a local server with databases in another one.
final class RemoteRoom {
    let room: Room
    let server: Server
    private let data: TemporaryFolder
    private let scheme: String

    init(
        _ change: (inout ServerOptions) -> Void = { _ in }, preparing: (DocumentStore) throws -> Void = { _ in }
    ) throws {
        room = try Room()
        data = try TemporaryFolder()
        var options = ServerOptions()
        options.port = 0
        options.stopTimeout = .seconds(2)
        options.security.admins = ["admin": "secret-word"]
        options.security.passwordIterations = 10
        options.scripts = ScriptOptions(executable: try Room.tool().path, arguments: ["script-worker"])
        change(&options)
        scheme = options.certificate == nil ? "http" : "https"
        let store = try DocumentStore(path: data.path)
        try preparing(store)
        server = Server(store: store, options: options)
        try server.start()
    }

    deinit { server.stop() }

    /// A proxy in front of the server that hides that it is Settle, so that the tool takes it for another CouchDB.
    func disguise() throws -> FaultProxy {
        let plan = FaultPlan("hides the welcome") { request, _ in
            request.path == "/" ? .answer(status: 404, retryAfter: nil, body: .couchDB) : .none
        }
        return try FaultProxy(to: server.port, plan: plan)
    }

    /// Sends JSON to the server as its administrator, and returns the answer.
    @discardableResult
    func send(_ method: String, _ path: String, _ body: JSONValue) throws -> JSONValue {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = [
            "curl", "-sS", "--max-time", "300", "-X", method, "-u", "admin:secret-word", "-H",
            "Content-Type: application/json", "-d", body.description, "http://127.0.0.1:\(port)/\(path)",
        ]
        let output = Pipe()
        curl.standardOutput = output
        curl.standardInput = FileHandle.nullDevice
        try curl.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        curl.waitForEnd()
        return try JSONValue(utf8: Array(data))
    }

    /// The URL of a database, by default with user and password.
    func url(_ database: String = "db", _ credentials: String = "admin:secret-word@") -> String {
        "\(scheme)://\(credentials)127.0.0.1:\(port)/\(database)"
    }

    /// The URL of a database behind a proxy.
    func url(_ database: String = "db", behind proxy: FaultProxy) -> String {
        "http://admin:secret-word@127.0.0.1:\(proxy.port)/\(database)"
    }

    /// The port of the server.
    var port: Int { server.port }

    /// Runs the tool and waits for its end, with a home folder of its own and no other password than the given.
    @discardableResult
    func run(_ words: String..., input: String = "", environment: [String: String] = [:]) throws -> Room.Outcome {
        try run(all: words, input: input, environment: environment)
    }

    /// Runs the tool and waits for its end, with a home folder of its own and no other password than the given.
    func run(all words: [String], input: String = "", environment: [String: String] = [:]) throws -> Room.Outcome {
        let own = ["HOME": room.folder.path, "SETTLE_PASSWORD": "", "SETTLE_TOKEN": ""]
        return try room.run(all: words, input: input, environment: own.merging(environment) { $1 })
    }

    /// The output of a started tool so far.
    func output(_ number: String) throws -> String {
        String(decoding: try room.contents(of: "out-\(number)"), as: UTF8.self)
    }
}
