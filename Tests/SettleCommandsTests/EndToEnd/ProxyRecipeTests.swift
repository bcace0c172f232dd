import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

/// The files in `Examples` for proxies, run by real ones in front of a real server.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProxyRecipeTests {
    private static let nginx = "/usr/sbin/nginx"
    private static let haproxy = "/usr/sbin/haproxy"
    private static var root: URL {
        (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    }

    private let room: Room
    private let client: RecipeClient

    init() throws {
        room = try Room()
        client = RecipeClient(room)
    }

    private static func isInstalled(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    private func recipe(_ path: String, _ replacements: [(String, String)]) throws -> String {
        var text = try String(contentsOf: Self.root.appending(path: "Examples/\(path)"), encoding: .utf8)
        for (old, new) in replacements {
            #expect(text.contains(old), "\(path) has \(old)")
            text = text.replacing(old, with: new)
        }
        return text
    }

    /// A server, and the port that it listens on.
    private func serve(_ name: String) throws -> (process: Process, port: Int) {
        let process = try room.start(
            ["serve", "--data", room.path("data-\(name)"), "--port", "0", "--json"], name,
            ["SETTLE_ADMIN": "anna:sesame", "SETTLE_STOP_TIMEOUT": "2"])
        var port: Int?
        waitUntil {
            port = (try? JSONValue(utf8: Array(room.contents(of: "out-\(name)"))))?["port"]?.int
            return port != nil
        }
        return (process, try #require(port))
    }

    private func start(_ program: String, _ words: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = words
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// A port on which no program listens.
    private func freePort() throws -> Int {
        let socket = Sockets.make(AF_INET)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Bool in
                bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
            }
        }
        try #require(port)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    @Test(.enabled(if: isInstalled(nginx), "needs nginx"))
    func `nginx passes ids with slashes, feeds, large bodies and WebSockets below a prefix, over TLS`() throws {
        let (server, port) = try serve("one")
        defer { kill(server.processIdentifier, SIGKILL) }
        let openSSL = OpenSSL(folder: room.path("."))
        try openSSL.makeCertificate("proxy")
        let front = try freePort()
        let site = try recipe(
            "nginx/settle.conf",
            [
                ("127.0.0.1:5984", "127.0.0.1:\(port)"), ("listen 443 ssl", "listen 127.0.0.1:\(front) ssl"),
                ("/etc/nginx/settle/cert.pem", room.path("proxy.pem")),
                ("/etc/nginx/settle/key.pem", room.path("proxy-key.pem")),
            ])
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(room.path("nginx-\($0)"));"
        }
        try room.write(
            """
            daemon off; master_process off; pid \(room.path("nginx.pid")); error_log \(room.path("nginx.log"));
            events {}
            http { access_log off; \(folders.joined(separator: " "))
            \(site)
            }
            """, to: "nginx.conf")
        let proxy = try start(
            Self.nginx, ["-c", room.path("nginx.conf"), "-p", room.path("."), "-e", room.path("nginx.log")])
        defer { kill(proxy.processIdentifier, SIGKILL) }
        let url = "https://localhost:\(front)/couch/"
        client.trust = room.path("proxy.pem")
        waitUntil { try client.status("\(url)_up") == 200 }
        #expect(try client.status("\(url)db", "-X", "PUT") == 201)
        // As an attachment of the document `a` it would be another thing.
        #expect(try client.json("\(url)db/a%2Fb", "-X", "PUT", "-d", "{\"x\":1}")["id"] == "a/b")
        #expect(try client.json("\(url)db/a%2Fb?revs=true")["_revisions"] != nil)
        #expect(try client.status("\(url)db/a") == 404)
        #expect(try client.json("\(url)db/_all_docs?startkey=%22a%22&limit=1")["rows"]?.array?.count == 1)
        try room.write(String(repeating: "x", count: 5_000_000), to: "big")
        #expect(try client.status("\(url)db/big/x", "-H", "Content-Type: image/x", "-T", room.path("big")) == 201)
        let feed = try client.start("feed", "-N", "\(url)db/_changes?feed=continuous&since=now&heartbeat=60000")
        defer { kill(feed.processIdentifier, SIGKILL) }
        // Until the feed has begun, a change may come before it.
        var number = 0
        waitUntil {
            number += 1
            _ = try client.status("\(url)db/n\(number)", "-X", "PUT", "-d", "{}")
            return try String(decoding: room.contents(of: "feed"), as: UTF8.self).contains("\"id\":\"n")
        }
        var upgrade = ""
        // The connection stays open for this time; a busy machine needs more before the answer.
        for seconds in ["2", "20", "100"] where !upgrade.hasPrefix("HTTP/1.1 101") {
            upgrade = try client.text(
                "\(url)db/_blipsync", "-i", "--http1.1", "-N", "--max-time", seconds, "-H", "Connection: Upgrade",
                "-H", "Upgrade: websocket", "-H", "Sec-WebSocket-Version: 13", "-H",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "-H", "Sec-WebSocket-Protocol: BLIP_3+CBMobile_2")
        }
        #expect(upgrade.hasPrefix("HTTP/1.1 101"))
    }

    @Test(.enabled(if: isInstalled(haproxy), "needs haproxy"))
    func `haproxy goes to another node when one stops or hangs`() throws {
        let (one, two) = (try serve("one"), try serve("two"))
        defer { for server in [one, two] { kill(server.process.processIdentifier, SIGKILL) } }
        let front = try freePort()
        let text = try recipe(
            "haproxy/settle.cfg",
            [
                ("bind 0.0.0.0:443 ssl crt /etc/haproxy/settle.pem", "bind 127.0.0.1:\(front)"),
                ("node-a.example:5984", "127.0.0.1:\(one.port)"), ("node-b.example:5984", "127.0.0.1:\(two.port)"),
            ])
        #expect(text.contains("on-marked-down shutdown-sessions"))
        try room.write(text, to: "haproxy.cfg")
        let proxy = try start(Self.haproxy, ["-db", "-f", room.path("haproxy.cfg")])
        defer { kill(proxy.processIdentifier, SIGKILL) }
        let url = "http://127.0.0.1:\(front)/"
        waitUntil { try client.status("\(url)_up") == 200 }
        // The nodes of this test share nothing, so each gets the database.
        for port in [one.port, two.port] {
            #expect(try client.status("http://127.0.0.1:\(port)/db", "-X", "PUT") == 201)
        }
        #expect(try client.status("\(url)db/a%2Fb", "-X", "PUT", "-d", "{}") == 201)
        // Half of the requests in a row would go to a node that hangs or has stopped. On a busy machine the proxy may also
        // take the other node for one that hangs, but not for long.
        func isAnswered() throws -> Bool { try (0..<8).allSatisfy { _ in try client.status("\(url)db") == 200 } }
        // A node hangs. Its waiting requests are cut when it is marked down, and the next request goes to the other node.
        kill(one.process.processIdentifier, SIGSTOP)
        let begin = ContinuousClock.now
        for _ in 0..<8 { _ = try client.status("\(url)db", "--max-time", "300") }
        #expect(ContinuousClock.now - begin < .seconds(300))
        waitUntil("the other node answers") { try isAnswered() }
        kill(one.process.processIdentifier, SIGCONT)
        // A node stops, and clients don't notice.
        waitUntil { try client.status("http://127.0.0.1:\(one.port)/_up") == 200 }
        kill(two.process.processIdentifier, SIGTERM)
        #expect(two.process.waitForEnd() == 0)
        waitUntil("the remaining node answers") { try isAnswered() }
    }

    @Test func `the health check of the image knows whether the server answers`() throws {
        let text = try String(contentsOf: Self.root.appending(path: "Dockerfile"), encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("HEALTHCHECK") })
        let list = try JSONValue(parsing: String(line[try #require(line.firstIndex(of: "["))...]))
        let words = list.array?.compactMap(\.string) ?? []
        #expect(words.first == "bash")
        let (server, port) = try serve("one")
        defer { kill(server.processIdentifier, SIGKILL) }
        func check() throws -> Int32 {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = words
            process.environment = ["PATH": "/usr/bin:/bin", "SETTLE_PORT": "\(port)"]
            process.standardError = FileHandle.nullDevice
            try process.run()
            return process.waitForEnd()
        }
        #expect(try check() == 0)
        kill(server.processIdentifier, SIGTERM)
        #expect(server.waitForEnd() == 0)
        #expect(try check() != 0)
    }
}

/// Requests by curl.
private final class RecipeClient {
    private let room: Room
    /// A certificate that is trusted.
    var trust: String?

    init(_ room: Room) { self.room = room }

    func status(_ url: String, _ words: String...) throws -> Int {
        Int(try run(url, ["-o", "/dev/null", "-w", "%{http_code}"] + words)) ?? 0
    }

    func json(_ url: String, _ words: String...) throws -> JSONValue { try JSONValue(parsing: run(url, words)) }

    func text(_ url: String, _ words: String...) throws -> String { try run(url, words) }

    /// Starts a request whose answer goes into a file.
    func start(_ file: String, _ words: String...) throws -> Process {
        try room.write("", to: file)
        let curl = process(words + ["-o", room.path(file)])
        try curl.run()
        return curl
    }

    private func run(_ url: String, _ words: [String]) throws -> String {
        let curl = process(["--max-time", "300"] + words + [url])
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        curl.waitForEnd()
        return String(decoding: data, as: UTF8.self)
    }

    private func process(_ words: [String]) -> Process {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = ["curl", "-sS", "-u", "anna:sesame"] + (trust.map { ["--cacert", $0] } ?? []) + words
        curl.standardError = FileHandle.nullDevice
        return curl
    }
}
