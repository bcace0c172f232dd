import Dispatch
import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// A server has its port and its folder exclusively.
@Suite struct LiveListenTests {
    private func server(_ path: String, port: Int) throws -> Server {
        var options = ServerOptions()
        options.port = port
        options.stopTimeout = .seconds(1)
        options.security.admins = ["admin": "admin"]
        options.security.passwordIterations = 10
        return Server(store: try DocumentStore(path: path), options: options)
    }

    @Test func `a port in use is an error that names it`() throws {
        let live = try LiveServer()
        let folder = try TemporaryFolder()
        let second = try server(folder.path, port: live.port)
        defer { second.stop() }
        #expect {
            try second.start()
        } throws: { error in
            "\(error)".contains("port \(live.port)") && "\(error)".contains("another program listens there")
        }
        for number in 0..<20 {
            if number == 0 { _ = try live.send("PUT", "/db") }
            #expect(try live.send("PUT", "/db/d\(number)", "{}").head.hasPrefix("HTTP/1.1 201"))
            #expect(try live.send("GET", "/db/d\(number)").head.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a server can listen on its port again right after it stopped`() throws {
        let folder = try TemporaryFolder()
        var port = 0
        for _ in 0..<5 {
            let server = try server(folder.path, port: port)
            try server.start()
            port = server.port
            // A connection that the server closes keeps the port in TIME_WAIT.
            let connection = try RawConnection(port: port)
            try connection.write(LiveServer.request("GET", "/"))
            #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 200"))
            server.stop()
        }
    }

    @Test func `a second server on a folder is refused and changes nothing there`() throws {
        let folder = try TemporaryFolder()
        let first = try server(folder.path, port: 0)
        try first.start()
        let settings = try Data(contentsOf: URL(filePath: folder("server.json")))
        let second = try server(folder.path, port: 0)
        for attempt in [{ try second.setAdministrator("eve", password: "x") }, { try second.start() }] {
            #expect {
                try attempt()
            } throws: { error in
                (error as? DatabaseError)?.code == .inUse && "\(error)".contains(folder.path)
                    && "\(error)".contains("process \(ProcessInfo.processInfo.processIdentifier)")
            }
        }
        #expect(try Data(contentsOf: URL(filePath: folder("server.json"))) == settings)
        first.stop()
        try second.start()
        second.stop()
    }

    private let handler = HTTPHandler(plan: { _ in .answered(.error(.stopping)) })

    @Test func `a listening socket is closed once`() throws {
        var options = ListenerOptions()
        options.port = 0
        let listener = try MicroHTTPDListener(options, handler: handler)
        close(try listener.copySocket())
        listener.retire()
        #expect(throws: ListenerError.self) { try listener.copySocket() }
        // One of these gets the number of the listening socket.
        let files = (0..<64).compactMap { _ in Sockets.pair() }.flatMap { [$0.0, $0.1] }
        defer { for file in files { close(file) } }
        func identities() -> [UInt64] {
            files.map { file in
                var status = stat()
                return fstat(file, &status) == 0 ? UInt64(status.st_ino) : 0
            }
        }
        let before = identities()
        listener.retire()
        listener.drain()
        listener.stop(within: 0)
        #expect(identities() == before)
    }

    @Test func `a stopped listener listens no more, even if a process that is being started has its socket`() throws {
        var options = ListenerOptions()
        options.port = 0
        let listener = try MicroHTTPDListener(options, handler: handler)
        let copy = try listener.copySocket()
        defer { close(copy) }
        _ = try RawConnection(port: listener.port)
        listener.stop(within: 0)
        #expect(throws: RawConnection.Failure.self) { try RawConnection(port: listener.port) }
    }

    @Test(arguments: [true, false])
    func `an inherited socket is closed when the listener can't start`(hasCertificate: Bool) throws {
        let ends = try #require(Sockets.pair())
        defer { close(ends.1) }
        var options = ListenerOptions()
        options.inherited = ends.0
        if hasCertificate {
            options.certificate = Certificate(chain: "none", key: "none")
        } else {
            // Too long for a name, so that no other machine is asked.
            options.host = String(repeating: "x", count: 70)
        }
        let given = options
        #expect(throws: ListenerError.self) { _ = try MicroHTTPDListener(given, handler: handler) }
        // A program that another test starts at this moment has a copy until it runs.
        waitUntil("the socket is closed") { Sockets.closedByPeer([ends.1]) == [0] }
    }

    @Test func `simultaneous reloads come one after the other, and a stopped server reloads nothing`() throws {
        let live = try LiveServer()
        let server = live.server
        let problems = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            var options = ServerOptions()
            options.connectionLimit = 100 + number
            do { try server.reload(options) } catch {
                let problem = "\(error)"
                problems.withLock { $0.append(problem) }
            }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(try live.send("GET", "/").head.hasPrefix("HTTP/1.1 200"))
        server.stop()
        try server.reload(ServerOptions())
        #expect(server.port == 0)
    }

    @Test func `the folder of a killed server is free`() throws {
        let folder = try TemporaryFolder()
        let first = try ServedFolder(folder)
        let settings = try Data(contentsOf: URL(filePath: folder("server.json")))
        let second = try server(folder.path, port: 0)
        #expect(throws: DatabaseError.self) { try second.setAdministrator("eve", password: "x") }
        #expect(try Data(contentsOf: URL(filePath: folder("server.json"))) == settings)
        first.kill()
        try second.start()
        second.stop()
    }
}
