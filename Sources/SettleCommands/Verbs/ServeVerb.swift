internal import Foundation
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
            Nobody is an administrator without a password. At the first start without one, "admin" gets a random password, \
            which is printed once and of which only a hash is kept. With --admin a password of your own is set: put it \
            into a file, or into the environment as SETTLE_ADMIN_PASSWORD; it is never an argument, which others could see.
            """,
        options: [
            Option("--dir", value: "FOLDER", "the folder of the databases; made if there is none (default data)"),
            Option("--bind", value: "ADDRESS", "the address to listen on (default 127.0.0.1)"),
            Option("--port", value: "N", "the port to listen on, 0 for any that is free (default 5984)"),
            Option("--admin", value: "NAME", "set the password of this administrator, then serve"),
            Option("--admin-password-file", value: "FILE", "the file the password is in, on its first line"),
            Option("--config", value: "FILE", "how people log in: docs/SECURITY.md has the members of this JSON file"),
            Option("--tls-cert", value: "FILE", "speak TLS with the certificate of this file, in PEM"),
            Option("--tls-key", value: "FILE", "the certificate's private key, in PEM"),
        ],
        examples: [
            Guide.Example("settle serve", "serves ./data on http://127.0.0.1:5984"),
            Guide.Example(
                "settle serve --tls-cert cert.pem --tls-key key.pem --admin anna --admin-password-file password",
                "over TLS, with an administrator of your own"),
            Guide.Example("settle serve --dir /srv/settle --port 0 --json", "on a free port, which the output tells"),
        ],
        json: #"{"ok":true,"url":…,"port":N,"dir":…} once it listens, with "admin" and "password" if it made them"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let folder = arguments.text("--dir") ?? "data"
        var options = ServerOptions()
        options.host = arguments.text("--bind") ?? options.host
        options.port = try arguments.count("--port") ?? options.port
        guard options.port <= 65_535 else { throw CommandError.usage("--port takes a number up to 65535") }
        var storeOptions = DatabaseOptions()
        storeOptions.durability = .full
        // Each database has several connections, and the system keeps its pages too.
        storeOptions.cacheBytes = 2 << 20
        let store = try Store(path: folder, options: storeOptions)
        raiseFileLimit()
        // Blocked before the first thread is made, so that the signals wait for this one.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        options.certificate = try certificate(arguments)
        if let path = arguments.text("--config") {
            options.security = try SecurityOptions(configuration: Array(text(of: path).utf8))
        }
        let server = Server(store: store, options: options)
        if let name = arguments.text("--admin") {
            try server.setAdministrator(name, password: password(arguments))
        } else if arguments.text("--admin-password-file") != nil {
            throw CommandError.usage("--admin-password-file needs --admin", verb: guide.name)
        }
        let made = try server.makeAdministrator()
        do { try server.start() } catch { throw CommandError("listen", "\(error)", status: .inputOutput) }
        try tell(server, options, folder, made, invocation.console)
        var signal: Int32 = 0
        sigwait(&signals, &signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        server.stop()
        return .success
    }

    private static func tell(
        _ server: Server, _ options: ServerOptions, _ folder: String, _ password: String?, _ console: Console
    ) throws {
        let name = options.host.contains(":") ? "[\(options.host)]" : options.host
        let scheme = options.certificate == nil ? "http" : "https"
        let url = "\(scheme)://\(name):\(server.port)/"
        var text = "Serving \(folder) on \(url)"
        var json: [(String, JSON)] = [
            ("ok", true), ("url", .string(url)), ("port", .number(JSONNumber(server.port))), ("dir", .string(folder)),
        ]
        if let password {
            text += "\nMade the administrator admin with the password \(password)\nKeep it: it is not shown again."
            json += [("admin", "admin"), ("password", .string(password))]
        }
        try console.print(text, json: .object(JSONObject(json)))
        try console.output.flush()
    }

    /// The password that was given, never by an argument.
    private static func password(_ arguments: Arguments) throws -> String {
        if let path = arguments.text("--admin-password-file") {
            let line = try text(of: path).prefix { $0 != "\n" && $0 != "\r\n" }
            if !line.isEmpty { return String(line) }
            throw CommandError.usage("the file of --admin-password-file begins with an empty line", verb: guide.name)
        }
        guard let value = getenv("SETTLE_ADMIN_PASSWORD").map({ String(cString: $0) }), !value.isEmpty else {
            throw CommandError.usage(
                "--admin needs a password: in --admin-password-file, or in SETTLE_ADMIN_PASSWORD", verb: guide.name)
        }
        unsetenv("SETTLE_ADMIN_PASSWORD")
        return value
    }

    private static func certificate(_ arguments: Arguments) throws -> Certificate? {
        switch (arguments.text("--tls-cert"), arguments.text("--tls-key")) {
        case (nil, nil): return nil
        case (let chain?, let key?): return Certificate(chain: try text(of: chain), key: try text(of: key))
        default: throw CommandError.usage("--tls-cert and --tls-key need each other", verb: guide.name)
        }
    }

    private static func text(of path: String) throws -> String {
        do { return try String(contentsOfFile: path, encoding: .utf8) } catch {
            throw CommandError("read", "can't read \(path)", status: .inputOutput)
        }
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
