import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct SettingsFileTests {
    @Test func `an administrator is created once, and only a hash is kept, readable by the owner`() throws {
        let folder = try TemporaryFolder()
        var options = ServerOptions()
        options.security.passwordIterations = 10
        let path = folder("server.json")
        let first = Server(store: try DocumentStore(path: folder.path), options: options)
        let password = try #require(try first.makeAdministrator())
        #expect(password.utf8.count >= 20)
        #expect(try first.makeAdministrator() == nil)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains(password) && text.contains("-pbkdf2:sha256-"))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        first.stop()
        let second = Server(store: try DocumentStore(path: folder.path), options: options)
        #expect(try second.makeAdministrator() == nil)
        let login = try second.state.authenticator.login("admin", Array(password.utf8), peer: "")
        #expect(login?.roles == ["_admin"])
        #expect(second.state.administration.secret == first.state.administration.secret)
        #expect(try second.state.authenticator.login("admin", [], peer: "") == nil)
    }

    @Test func `a password given at a start opens at once, and the stored one closes when it has been compared`() throws
    {
        let folder = try TemporaryFolder()
        func server() throws -> Server { Server(store: try DocumentStore(path: folder.path)) }
        let first = try server()
        #expect(try !first.acceptAdministrator("ann", password: "old"))
        try first.setAdministrator("ann", password: "old")
        first.stop()

        let second = try server()
        defer { second.stop() }
        let administration = second.state.administration
        func opens(_ password: String) throws -> Bool {
            try second.state.authenticator.login("ann", Array(password.utf8), peer: "") != nil
        }
        #expect(try second.acceptAdministrator("ann", password: "new"))
        let stored = try #require(administration.hash(of: "ann"))
        #expect(administration.hasher.remembers(Array("new".utf8), stored, "ann"))
        try second.setAdministrator("ann", password: "new")
        #expect(administration.hash(of: "ann") != stored)
        #expect(try opens("new") && !opens("old"))
        // The same password leaves the hash, and with it the sessions, as they are.
        let now = administration.hash(of: "ann")
        #expect(try second.acceptAdministrator("ann", password: "new"))
        try second.setAdministrator("ann", password: "new")
        #expect(administration.hash(of: "ann") == now)
        #expect(throws: DatabaseError.self) { try second.acceptAdministrator("ann", password: "") }
    }

    @Test func `without an administrator no request has administrator access`() throws {
        let client = try RouterClient { $0.security.admins = [:] }
        #expect(try client.send(as: "", "PUT", "/db").status == 401)
        #expect(try client.send(as: "", "GET", "/_session").json["userCtx"]?["roles"] == [])
        #expect(try client.send("PUT", "/db").status == 401)
    }

    @Test func `a damaged file stops the server instead of being replaced`() throws {
        let folder = try TemporaryFolder()
        for text in ["", "{}", "{\"secret\":\"short\",\"uuid\":\"x\"}", "nonsense"] {
            try text.write(toFile: folder("server.json"), atomically: true, encoding: .utf8)
            let server = Server(store: try DocumentStore(path: folder.path))
            #expect(throws: DatabaseError.self) { try server.makeAdministrator() }
            #expect(try String(contentsOfFile: folder("server.json"), encoding: .utf8) == text)
        }
    }

    @Test func `impossible names and passwords are refused`() throws {
        let folder = try TemporaryFolder()
        let server = Server(store: try DocumentStore(path: folder.path))
        for (name, password) in [("", "x"), ("_x", "x"), ("a:b", "x"), ("a", "")] {
            #expect(throws: DatabaseError.self) { try server.setAdministrator(name, password: password) }
        }
    }
}
