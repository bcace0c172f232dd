import Foundation
import Settle
import SettleTesting
import Testing

/// The tool as a server, in its own process.
@Suite struct ServeCommandTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func `the server prints its address, answers, and ends on a signal`(signal: Int32) throws {
        let room = try Room()
        let process = try room.start(["serve", "--data", room.path("data"), "--port", "0", "--json"], "serve")
        defer { if process.isRunning { process.terminate() } }
        let told = try room.firstOutput(of: process, "serve")
        #expect(told["ok"] == true && told["data"]?.string == room.path("data"))
        let url = try #require(told["url"]?.string)
        #expect(url == "http://127.0.0.1:\(told["port"]?.int ?? 0)/")
        let root = try get(url)
        #expect(root["couchdb"] == "Welcome")
        #expect(try get(url + "nope")["reason"] == "Database does not exist.")
        kill(process.processIdentifier, signal)
        let status = process.waitForEnd()
        #expect(status == 0)
    }

    @Test func `a document as large as a preset allows is stored`() throws {
        let room = try Room()
        let process = try room.start(
            ["serve", "--data", room.path("data"), "--port", "0", "--json", "--preset", "obsidian", "--admin", "anna"],
            "large", ["SETTLE_ADMIN_PASSWORD": "sesame"])
        defer { if process.isRunning { process.terminate() } }
        let port = try #require(try room.firstOutput(of: process, "large")["port"]?.int)
        let url = "http://anna:sesame@127.0.0.1:\(port)/vault"
        try room.write(#"{"text":"\#(String(repeating: "x", count: 9_000_000))"}"#, to: "large.json")
        let created = try room.run("create", url)
        #expect(created.status == 0, "\(created)")
        let stored = try room.run("put", url, "large", "@\(room.path("large.json"))")
        #expect(stored.status == 0, "\(stored)")
    }

    @Test func `the first start creates an administrator's password, and prints it once`() throws {
        let room = try Room()
        let first = try serve(room, "first")
        let password = try #require(first["password"]?.string)
        #expect(first["admin"] == "admin" && password.utf8.count >= 20)
        let second = try serve(room, "second")
        #expect(second["ok"] == true && second["password"] == nil)
        let settings = try String(decoding: room.contents(of: "data/server.json"), as: UTF8.self)
        #expect(settings.contains("-pbkdf2:sha256-") && !settings.contains(password))
    }

    @Test func `an administrator's password is read from a file or the environment`() throws {
        let room = try Room()
        try room.write("sesame\n", to: "password")
        let file = try serve(room, "file", ["--admin", "anna", "--admin-password-file", room.path("password")])
        #expect(file["ok"] == true && file["password"] == nil)
        let other = try serve(room, "other", ["--admin", "bert"], ["SETTLE_ADMIN_PASSWORD": "sesame"])
        #expect(other["ok"] == true && other["password"] == nil)
        let settings = try JSONValue(utf8: Array(room.contents(of: "data/server.json")))
        #expect(settings["admins"]?.object?.names == ["anna", "bert"])
        for words in [
            ["--admin", "anna"], ["--admin-password-file", "x"], ["--tls-cert", "x"], ["--tls-key", "x"],
        ] {
            #expect(try room.run(all: ["serve", "--data", "data", "--port", "0"] + words).status == 2)
        }
        #expect(try room.run("serve", "--tls-cert", "none", "--tls-key", "none").status == 8)
    }

    @Test func `the logs have starts, requests and stops, and are reopened on a signal`() throws {
        let room = try Room()
        let process = try room.start(
            [
                "serve", "--data", room.path("data"), "--port", "0", "--json", "--log-format", "json", "--access-log",
                room.path("access"),
            ], "logs", ["SETTLE_ADMIN": "anna:sesame"])
        defer { if process.isRunning { process.terminate() } }
        func lines(of name: String, _ count: Int) throws -> [JSONValue] {
            var text = ""
            waitUntil("\(name) has \(count) lines") {
                text = String(decoding: try room.contents(of: name), as: UTF8.self)
                return text.split(separator: "\n").count >= count && text.hasSuffix("\n")
            }
            return try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        }
        let url = try #require(lines(of: "out-logs", 1).first?["url"]?.string)
        _ = try get(url)
        #expect(try lines(of: "access", 1).first?["status"] == 200)
        try FileManager.default.moveItem(atPath: room.path("access"), toPath: room.path("moved"))
        kill(process.processIdentifier, SIGHUP)
        #expect(try lines(of: "err-logs", 2).last?["event"] == "reopen")
        _ = try get(url + "nope")
        #expect(try lines(of: "access", 1).first?["status"] == 404 && lines(of: "moved", 1).count == 1)
        kill(process.processIdentifier, SIGTERM)
        process.waitForEnd()
        #expect(try lines(of: "err-logs", 3).map { $0["event"]?.string } == ["start", "reopen", "stop"])
        #expect(try !String(decoding: room.contents(of: "err-logs"), as: UTF8.self).contains("sesame"))
    }

    @Test func `a server that gives requests no time to finish is stopped all the same`() throws {
        let room = try Room()
        let process = try room.start(
            ["serve", "--data", room.path("data"), "--port", "0", "--json", "--log-format", "json"], "hasty",
            ["SETTLE_ADMIN": "anna:sesame", "SETTLE_STOP_TIMEOUT": "0"])
        defer { if process.isRunning { process.terminate() } }
        func lines(of name: String) throws -> [JSONValue] {
            try String(decoding: room.contents(of: name), as: UTF8.self).split(separator: "\n").map {
                try JSONValue(parsing: String($0))
            }
        }
        waitUntil { try room.contents(of: "out-hasty").last == UInt8(ascii: "\n") }
        kill(process.processIdentifier, SIGTERM)
        #expect(process.waitForEnd() == 0)
        #expect(try lines(of: "err-hasty").map { $0["event"]?.string } == ["start", "stop"])
    }

    @Test func `a password among the arguments is accepted, with a warning that does not repeat it`() throws {
        let room = try Room()
        let told = try serve(room, "visible", ["--admin", "anna:sesame"])
        #expect(told["admin"] == "anna" && told["password_from"] == "--admin" && told["password"] == nil)
        let errors = try String(decoding: room.contents(of: "err-visible"), as: UTF8.self)
        #expect(errors.contains("other users") && !errors.contains("sesame"))
        let hidden = try serve(room, "hidden", [], ["SETTLE_ADMIN": "anna:sesame"])
        #expect(hidden["password_from"] == "SETTLE_ADMIN")
        #expect(try !String(decoding: room.contents(of: "err-hidden"), as: UTF8.self).contains("other users"))
    }

    @Test func `a world-readable file with a secret is warned about`() throws {
        let room = try Room()
        try room.write("// Mine.\n{\"admin\": \"anna:sesame\"}", to: "settle.json")
        chmod(room.path("settle.json"), 0o644)
        _ = try serve(room, "open", ["--config", room.path("settle.json")])
        #expect(try String(decoding: room.contents(of: "err-open"), as: UTF8.self).contains("chmod 600"))
        chmod(room.path("settle.json"), 0o600)
        let told = try serve(room, "closed", ["--config", room.path("settle.json")])
        #expect(told["admin"] == "anna" && told["password_from"] == "file")
        #expect(try !String(decoding: room.contents(of: "err-closed"), as: UTF8.self).contains("chmod 600"))
    }

    @Test func `the configuration is shown without secrets, and nothing is started`() throws {
        let room = try Room()
        let words = ["serve", "--data", "none", "--port", "1", "--admin", "anna", "--show-settings"]
        let environment = ["SETTLE_ADMIN_PASSWORD": "sesame", "SETTLE_HOST": "::1"]
        let text = try room.run(all: words, environment: environment)
        #expect(text.status == 0 && text.output.contains("SETTLE_HOST") && !text.output.contains("sesame"))
        let json = try room.run(all: words + ["--json"], environment: environment)
        #expect(json.json["settings"]?["port"] == ["value": 1, "source": "--port"])
        #expect(json.json["settings"]?["admin_password"]?["value"] == "(set)" && !json.output.contains("sesame"))
        #expect(!FileManager.default.fileExists(atPath: room.path("none")))
    }

    /// Serves until it listens, and returns the output.
    private func serve(
        _ room: Room, _ name: String, _ words: [String] = [], _ environment: [String: String] = [:]
    ) throws -> JSONValue {
        let process = try room.start(
            ["serve", "--data", room.path("data"), "--port", "0", "--json"] + words, name, environment)
        defer {
            if process.isRunning { process.terminate() }
            process.waitForEnd()
        }
        return try room.firstOutput(of: process, name)
    }

    @Test func `an address in use is reported`() throws {
        let room = try Room()
        let outcome = try room.run("serve", "--data", "data", "--host", "192.0.2.1", "--json")
        #expect(outcome.status == 8 && outcome.error["error"] == "listen")
    }

    private func get(_ url: String) throws -> JSONValue {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = ["curl", "-sS", "--max-time", "300", url]
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        curl.waitForEnd()
        return try JSONValue(utf8: Array(data))
    }
}
