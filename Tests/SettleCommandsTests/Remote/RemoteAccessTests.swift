import Foundation
import Settle
import SettleServer
import SettleTesting
import Testing

/// Authentication at a server, trusted certificates, and the messages of failures.
struct RemoteAccessTests {
    @Test func `a password comes from a URL, a file, the environment, or a netrc file`() throws {
        let remote = try RemoteRoom()
        let bare = remote.url("db", "")
        #expect(try remote.run("create", remote.url()).line == "Created \(bare)")
        try remote.room.write("secret-word\nmore\n", to: "password")
        let file = ["--user", "admin", "--password-file", remote.room.path("password")]
        #expect(try remote.run("docs", bare, file[0], file[1], file[2], file[3]).status == 0)
        let named = remote.url("db", "admin@")
        #expect(try remote.run("docs", named, environment: ["SETTLE_PASSWORD": "secret-word"]).status == 0)
        let nothing = try remote.run("docs", named)
        #expect(nothing.status == 2 && nothing.errors.contains("SETTLE_PASSWORD"))
        try remote.room.write("machine 127.0.0.1\n  login admin\n  password secret-word\n", to: ".netrc")
        #expect(try remote.run("docs", named).status == 0)
        #expect(try remote.run("docs", bare).status == 0)
        let both = try remote.run("docs", named, "--user", "anna")
        #expect(both.status == 2 && both.errors.contains("different users"))
    }

    @Test func `a token comes from a file or the environment`() throws {
        let token =
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
            + "eyJzdWIiOiJhbm5hIiwiZXhwIjo0MDAwMDAwMDAwLCJfY291Y2hkYi5yb2xlcyI6WyJfYWRtaW4iXX0."
            + "YRwU_of3W_UCzcjF31RhyCCjJC12vjUotiWSrHyyUNc"
        let key = try #require(TokenKey(secret: Array("s3cret".utf8)))
        let remote = try RemoteRoom { $0.security.tokens = TokenOptions(keys: [key]) }
        try remote.room.write(token + "\n", to: "token")
        let bare = remote.url("db", "")
        #expect(try remote.run("create", bare, "--bearer-file", remote.room.path("token")).status == 0)
        #expect(try remote.run("put", bare, "a", "{}", environment: ["SETTLE_TOKEN": token]).status == 0)
        #expect(try remote.run("docs", bare, "--bearer-file", "x", "--user", "y").status == 2)
        let wrong = try remote.run("docs", bare, "--json", environment: ["SETTLE_TOKEN": token + "x"])
        #expect(wrong.status == 5 && !wrong.errors.contains(token))
    }

    @Test func `a certificate is accepted only from a trusted authority`() throws {
        let room = try Room()
        let make = Process()
        make.executableURL = URL(filePath: "/usr/bin/env")
        make.arguments =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
            + ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", room.path("key")]
            + ["-out", room.path("cert")]
        make.standardError = FileHandle.nullDevice
        try make.run()
        make.waitForEnd()
        let chain = String(decoding: try room.contents(of: "cert"), as: UTF8.self)
        let key = String(decoding: try room.contents(of: "key"), as: UTF8.self)
        let remote = try RemoteRoom { $0.certificate = Certificate(chain: chain, key: key) }
        let created = try remote.run("create", remote.url(), "--ca", room.path("cert"))
        #expect(created.status == 0, "\(created.errors)")
        let untrusted = try remote.run("docs", remote.url(), "--json")
        #expect(untrusted.status == 8 && untrusted.error["error"] == "certificate_rejected")
        #expect(try remote.run("docs", remote.url(), "--ca", room.path("none")).status == 3)
        #expect(try remote.run("docs", remote.url(), "--cert-key", room.path("key")).status == 2)
    }

    @Test func `a failure says where, why and what to do, and shows no password`() throws {
        let remote = try RemoteRoom()
        func failure(_ words: String...) throws -> (status: Int32, code: String, message: String) {
            let outcome = try remote.room.run(
                all: words + ["--json"], environment: ["HOME": remote.room.folder.path, "SETTLE_PASSWORD": ""])
            #expect(outcome.output == "" && !outcome.errors.contains("secret"))
            return (outcome.status, outcome.error["error"]?.string ?? "", outcome.error["message"]?.string ?? "")
        }
        let host = "127.0.0.1:\(remote.server.port)"
        let missing = try failure("docs", remote.url("none"))
        #expect(missing == (3, "not_found", "there is no database at http://\(host)/none; `settle create` creates it"))
        #expect(try failure("get", remote.url("none"), "a") == missing)
        #expect(try failure("changes", remote.url("none"), "--follow") == missing)
        let wrong = try failure("get", remote.url("db", "admin:secret@"), "milk")
        #expect(wrong.status == 5 && wrong.code == "unauthorized" && wrong.message.contains("'admin'"))
        #expect(wrong.message.contains("\"milk\" of http://\(host)/db") && wrong.message.contains("--user"))
        let nobody = try failure("create", remote.url("db", ""))
        #expect(nobody.status == 5 && nobody.message.contains("requires authentication"))
        let unreachable = try failure("docs", "http://127.0.0.1:1/db")
        #expect(unreachable.status == 8 && unreachable.code == "cannot_connect")
        #expect(unreachable.message.contains("127.0.0.1:1"))
        #expect(try failure("docs", "http://\(host)/").status == 2)
        #expect(try failure("docs", "ftp://admin:secret@\(host)/db").status == 2)
        #expect(try failure("verify", remote.url()).status == 2)
        #expect(try failure("docs", "folder", "--user", "anna").status == 2)
    }

    @Test func `a URL that is not a CouchDB server is reported as such`() throws {
        let remote = try RemoteRoom()
        let page = try PageServer("<html><body>Welcome</body></html>")
        for verb in [["docs"], ["info"], ["get", "a"], ["changes"], ["conflicts"], ["export"]] {
            let words = [verb[0], "http://127.0.0.1:\(page.port)/db"] + verb.dropFirst() + ["--json"]
            let outcome = try remote.room.run(all: words, environment: ["HOME": remote.room.folder.path])
            #expect(outcome.status == 7 && outcome.error["error"] == "bad_answer", "\(verb): \(outcome.errors)")
        }
    }

    @Test func `a password over an unencrypted connection is warned about once, except on this machine`() throws {
        let remote = try RemoteRoom()
        try remote.run("create", remote.url())
        #expect(try remote.run("docs", remote.url()).errors == "")
        let far = try remote.run("docs", "http://anna:secret-word@settle.invalid/db")
        #expect(far.status == 8 && far.errors.contains("'anna' goes to settle.invalid in the open: use https"))
        #expect(far.errors.split(separator: "\n").count == 2 && !far.errors.contains("secret-word"))
    }
}
