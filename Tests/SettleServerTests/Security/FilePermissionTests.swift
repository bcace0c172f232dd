import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Files that the server and the library create are accessible to their owner only.
@Suite struct FilePermissionTests {
    @Test func `all folders are 0700 and all files 0600`() throws {
        let folder = try TemporaryFolder()
        let path = folder("inner/data")
        do {
            var options = ServerOptions()
            options.port = 0
            options.scripts = .built
            options.security.admins = ["admin": "admin"]
            options.security.passwordIterations = 10
            let server = Server(store: try DocumentStore(path: path), options: options)
            try server.start()
            defer { server.stop() }
            func send(_ method: String, _ target: String, _ body: String? = nil) throws {
                let connection = try RawConnection(port: server.port)
                try connection.write(LiveServer.request(method, target, body))
                let head = try connection.readAnswer().head
                #expect(head.hasPrefix("HTTP/1.1 20"), "\(method) \(target) \(head)")
            }
            try send("PUT", "/db")
            let large = Data(repeating: 7, count: 200_000).base64EncodedString()
            try send("PUT", "/db/a", #"{"_attachments":{"x":{"data":"eA=="},"y":{"data":"\#(large)"}}}"#)
            try send("PUT", "/db/_design/d", #"{"views":{"v":{"map":"function (d) { emit(1) }"}}}"#)
            try send("GET", "/db/_design/d/_view/v")
            try send("POST", "/db/_index", #"{"index":{"fields":["n"]}}"#)
            try send("POST", "/db/_find", #"{"selector":{"n":1}}"#)
            check(path)
        }
        check(path)
    }

    private func check(_ path: String) {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        #expect(names.contains { $0.hasSuffix("database.sqlite") } && names.contains { $0.contains(".index") })
        #expect(names.contains("server.json") && names.contains { $0.contains("attachments/") })
        for name in [""] + names {
            let attributes = (try? FileManager.default.attributesOfItem(atPath: path + "/" + name)) ?? [:]
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            let mode = attributes[.posixPermissions] as? Int
            // The file was removed meanwhile.
            #expect(mode == nil || mode == (isFolder ? 0o700 : 0o600), "\(name): \(String(mode ?? 0, radix: 8))")
        }
    }

    @Test func `a database that the library creates on its own is protected too`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder("a.settle"))
        _ = try database.save(Document(id: "a", body: ["n": 1]), onConflict: .fail)
        let path = folder("a.settle")
        let names = try FileManager.default.subpathsOfDirectory(atPath: path)
        for name in [""] + names {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(name)")
        }
        database.close()
    }
}
