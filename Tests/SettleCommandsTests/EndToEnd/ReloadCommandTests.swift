import Foundation
import Settle
import SettleTesting
import Testing

/// `settle serve` in its own process without a terminal, and SIGHUP.
@Suite(.timeLimit(.minutes(5))) struct ReloadCommandTests {
    private let room: Room

    init() throws { room = try Room() }

    /// Polls a condition, which must hold in the end.
    /// A server that is killed when the object is released.
    private final class Serving {
        let room: Room
        let process: Process
        let name: String
        var url = ""

        init(_ room: Room, _ name: String, _ words: [String]) throws {
            (self.room, self.name) = (room, name)
            process = try room.start(
                ["serve", "--data", room.path("data"), "--port", "0", "--json", "--log-format", "json"] + words, name,
                ["SETTLE_ADMIN": "anna:sesame"])
            waitUntil { self.lines(of: "out").first?["url"]?.string != nil }
            url = lines(of: "out").first?["url"]?.string ?? ""
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        func lines(of stream: String) -> [JSONValue] {
            let text = (try? String(decoding: room.contents(of: "\(stream)-\(name)"), as: UTF8.self)) ?? ""
            return text.split(separator: "\n").compactMap { try? JSONValue(parsing: String($0)) }
        }

        func count(_ event: String) -> Int { lines(of: "err").filter { $0["event"]?.string == event }.count }

        /// Whether there is a warning with a text.
        func warns(_ text: String) -> Bool {
            lines(of: "err").contains { $0["event"] == "warning" && $0["message"]?.string?.contains(text) == true }
        }

        /// Sends SIGHUP and waits until that was noticed.
        func hangUp() {
            let before = count("reopen")
            kill(process.processIdentifier, SIGHUP)
            waitUntil { self.count("reopen") > before }
        }

        func stop() -> Int32 {
            kill(process.processIdentifier, SIGTERM)
            return process.waitForEnd()
        }

        /// The status of an answer, 0 for none.
        func status(_ path: String, _ words: String...) throws -> Int {
            let curl = Process()
            curl.executableURL = URL(filePath: "/usr/bin/env")
            curl.arguments =
                ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "300", "-u", "anna:sesame"]
                + words + [url + path]
            let output = Pipe()
            curl.standardOutput = output
            curl.standardError = FileHandle.nullDevice
            try curl.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            curl.waitForEnd()
            return Int(String(decoding: data, as: UTF8.self)) ?? 0
        }
    }

    @Test(arguments: ["off", "-", "access.log"])
    func `a server without a terminal goes on after SIGHUP`(accessLog: String) throws {
        let log = accessLog.hasSuffix(".log") ? room.path(accessLog) : accessLog
        let serving = try Serving(room, "hup", ["--access-log", log])
        for _ in 0..<3 {
            serving.hangUp()
            #expect(try serving.status("_up") == 200)
        }
        #expect(serving.stop() == 0)
        #expect(serving.lines(of: "err").last?["event"] == "stop")
    }

    @Test func `SIGHUP renews the certificate, and one that can't be used changes nothing`() throws {
        let openSSL = OpenSSL(folder: room.path("."))
        for name in ["one", "two"] { try openSSL.makeCertificate(name) }
        func use(_ certificate: String, _ key: String) throws {
            try room.write(try openSSL.text(certificate), to: "cert")
            try room.write(try openSSL.text(key), to: "key")
        }
        try use("one.pem", "one-key.pem")
        let serving = try Serving(room, "tls", ["--tls-cert", room.path("cert"), "--tls-key", room.path("key")])
        serving.url = serving.url.replacing("127.0.0.1", with: "localhost")
        #expect(try serving.status("_up", "--cacert", room.path("one.pem")) == 200)
        try use("two.pem", "one-key.pem")
        serving.hangUp()
        waitUntil { serving.warns("does not fit its key") }
        #expect(try serving.status("_up", "--cacert", room.path("one.pem")) == 200)
        try use("two.pem", "two-key.pem")
        serving.hangUp()
        waitUntil { serving.count("reload") == 1 }
        #expect(serving.lines(of: "err").first { $0["event"] == "reload" }?["certificate"] == "renewed")
        #expect(try serving.status("_up", "--cacert", room.path("one.pem")) == 0)
        #expect(try serving.status("_up", "--cacert", room.path("two.pem")) == 200)
        #expect(serving.stop() == 0)
    }

    @Test func `SIGHUP takes what may change of the configuration, and names what needs a restart`() throws {
        try room.write("{\"document_size\": 100}", to: "settle.json")
        let serving = try Serving(room, "settings", ["--config", room.path("settle.json")])
        #expect(try serving.status("db", "-X", "PUT") == 201)
        let document = "{\"x\":\"\(String(repeating: "x", count: 200))\"}"
        #expect(try serving.status("db/a", "-X", "PUT", "-d", document) == 413)
        try room.write("{\"document_size\": 1000, \"idle_timeout\": 30, \"body_size\": 5000000}", to: "settle.json")
        serving.hangUp()
        waitUntil { serving.count("warning") == 1 }
        let events = serving.lines(of: "err")
        #expect(events.first { $0["event"] == "reload" }?["settings"] == "idle_timeout document_size")
        #expect(events.last?["message"] == "restart the server to change body_size")
        #expect(try serving.status("db/a", "-X", "PUT", "-d", document) == 201)
        try room.write("{\"document_size\": ", to: "settle.json")
        serving.hangUp()
        waitUntil { serving.count("warning") == 2 }
        #expect(try serving.status("db/b", "-X", "PUT", "-d", document) == 201)
        #expect(serving.stop() == 0)
    }

    @Test func `a certificate that has expired raises a warning at the start`() throws {
        let openSSL = OpenSSL(folder: room.path("."))
        try openSSL.run(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=old",
            "-keyout",
            "key.pem", "-out", "request.pem")
        try openSSL.run(
            "x509", "-req", "-in", "request.pem", "-signkey", "key.pem", "-days", "-1", "-out", "cert.pem")
        let serving = try Serving(
            room, "old", ["--tls-cert", room.path("cert.pem"), "--tls-key", room.path("key.pem")])
        waitUntil { serving.warns("has expired") }
        #expect(serving.stop() == 0)
    }

    @Test(arguments: [
        ("nothing", "one-key.pem", "none in PEM"), ("one.pem", "nothing", "no private key"),
        ("one.pem", "locked.pem", "is encrypted"), ("one.pem", "two-key.pem", "does not fit"),
    ])
    func `a certificate or key that can't be used is named`(certificate: String, key: String, message: String) throws {
        let openSSL = OpenSSL(folder: room.path("."))
        for name in ["one", "two"] { try openSSL.makeCertificate(name) }
        try openSSL.run("pkey", "-in", "one-key.pem", "-aes256", "-passout", "pass:sesame", "-out", "locked.pem")
        try room.write("nothing", to: "nothing")
        let outcome = try room.run(
            "serve", "--data", "data", "--port", "0", "--tls-cert", room.path(certificate), "--tls-key", room.path(key),
            "--json")
        #expect(outcome.status == 8 && outcome.errors.contains(message), "\(outcome.errors)")
    }
}
