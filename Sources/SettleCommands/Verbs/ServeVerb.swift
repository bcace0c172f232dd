internal import Settle
internal import SettleServer

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// `settle serve`: answers CouchDB's HTTP API over a folder of databases.
enum ServeVerb: Verb {
    static let guide = Guide(
        "serve", "answer CouchDB's HTTP API over a folder of databases",
        discussion: """
            It runs until Ctrl-C or SIGTERM, then lets requests finish for ten seconds; a second Ctrl-C ends it at once. \
            There is no authentication yet: everybody who reaches the address may read, change and delete everything, so \
            let it listen on the loopback address only.
            """,
        options: [
            Option("--dir", value: "FOLDER", "the folder of the databases; made if there is none (default data)"),
            Option("--bind", value: "ADDRESS", "the address to listen on (default 127.0.0.1)"),
            Option("--port", value: "N", "the port to listen on, 0 for any that is free (default 5984)"),
        ],
        examples: [
            Guide.Example("settle serve", "serves ./data on http://127.0.0.1:5984"),
            Guide.Example("settle serve --dir /srv/settle --port 0 --json", "on a free port, which the output tells"),
        ],
        json: #"{"ok":true,"url":…,"port":N,"dir":…} once it listens"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let folder = arguments.text("--dir") ?? "data"
        var options = ServerOptions()
        options.host = arguments.text("--bind") ?? options.host
        options.port = try arguments.count("--port") ?? options.port
        guard options.port <= 65_535 else { throw CommandError.usage("--port takes a number up to 65535") }
        var storeOptions = DatabaseOptions()
        storeOptions.durability = .full
        let store = try Store(path: folder, options: storeOptions)
        raiseFileLimit()
        // Blocked before the first thread is made, so that the signals wait for this one.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let server = Server(store: store, options: options)
        do { try server.start() } catch { throw CommandError("listen", "\(error)", status: .inputOutput) }
        try tell(server, options.host, folder, invocation.console)
        var signal: Int32 = 0
        sigwait(&signals, &signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        server.stop()
        return .success
    }

    private static func tell(_ server: Server, _ host: String, _ folder: String, _ console: Console) throws {
        let name = host.contains(":") ? "[\(host)]" : host
        let url = "http://\(name):\(server.port)/"
        try console.print(
            "Serving \(folder) on \(url)",
            json: [
                "ok": true, "url": .string(url), "port": .number(JSONNumber(server.port)), "dir": .string(folder),
            ])
        try console.output.flush()
    }

    /// Each connection and each open database takes files; the system may allow more than it begins with.
    private static func raiseFileLimit() {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(resource, &limit)
    }
}
