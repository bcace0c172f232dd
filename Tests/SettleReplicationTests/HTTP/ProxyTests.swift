import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleReplication
import SettleServer
import SettleTesting
import Testing

/// Requests through a proxy.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    private func client(_ proxy: HTTPProxy, roots: String? = nil) -> DefaultTransport {
        var options = TransportOptions()
        options.proxy = proxy
        options.tls.roots = roots
        return DefaultTransport(options)
    }

    @Test func `an HTTP request sends the whole URL to the proxy`() async throws {
        let head = Promise<String>()
        let proxy = try RawServer { peer in
            while let request = try peer.readRequest() {
                head.fulfil(request.head)
                try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let through = try HTTPProxy.through("http://an%40na:p%3Aw@127.0.0.1:\(proxy.port)")
        let request = HTTPRequest("GET", try HTTPURL("http://couch.invalid/db?a=b"))
        #expect(try await client(through).send(request).collect(limit: 10) == Array("ok".utf8))
        let seen = await head.get()
        #expect(seen.hasPrefix("GET http://couch.invalid/db?a=b HTTP/1.1\r\n"))
        #expect(seen.contains("Proxy-Authorization: Basic YW5AbmE6cDp3\r\n"))
    }

    @Test func `TLS uses a tunnel that the proxy can't read`() async throws {
        let folder = try TemporaryFolder()
        let openSSL = OpenSSL(folder: folder.path)
        try openSSL.makeCertificate("server")
        let certificate = Certificate(
            chain: try openSSL.text("server.pem"), key: try openSSL.text("server-key.pem"))
        let live = try LiveServer { $0.certificate = certificate }
        let head = Promise<String>()
        let proxy = try RawServer { peer in
            guard let request = try peer.readRequest() else { return }
            head.fulfil(request.head)
            let server = try RawPeer.connected(to: live.server.port)
            try peer.write("HTTP/1.1 200 Connected\r\n\r\n")
            let answering = try SystemThread {
                while let piece = try? server.readSome() { try? peer.write(piece) }
                peer.shut()
            }
            while let piece = try? peer.readSome() { try? server.write(piece) }
            server.shut()
            // The connections are closed after this.
            answering.join()
        }
        let client = client(try .through("http://127.0.0.1:\(proxy.port)"), roots: folder("server.pem"))
        let database = CouchDBConnection(database: try live.url("db"), client: client)
        #expect(try await database.json("PUT", "").status == 201)
        #expect(try await database.json("PUT", "a", body: [:]).status == 201)
        let seen = await head.get()
        #expect(seen.hasPrefix("CONNECT localhost:\(live.server.port) HTTP/1.1\r\n"))
        #expect(!seen.contains("Authorization") && proxy.accepted == 1)
    }

    @Test func `errors of a proxy and of the server are distinguished`() async throws {
        let proxy = try RawServer { peer in
            while try peer.readRequest() != nil {
                try peer.write("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let request = HTTPRequest("GET", try HTTPURL("https://couch.invalid/db"))
        let address = "http://anna:hunter2@127.0.0.1"
        for port in [proxy.port, 1] {
            let client = client(try .through("\(address):\(port)"))
            let error = await #expect(throws: TransportError.self) { try await client.send(request) }
            #expect(error?.code == .proxyFailed && error?.description.contains("hunter2") == false)
        }
    }

    @Test func `excepted hosts are reached without the proxy`() async throws {
        let server = try RawServer { peer in
            while try peer.readRequest() != nil { try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
        }
        let request = HTTPRequest("GET", try HTTPURL(server.url))
        let client = client(try .through("http://127.0.0.1:1", except: ["couch.example", "127.0.0.1"]))
        #expect(try await client.send(request).status == 200)
    }

    @Test(arguments: [
        ("http://proxy", "http://proxy:1080"), ("https://proxy", "https://proxy:443"),
        ("HTTP://proxy:80", "http://proxy:80"),
        ("socks5h://u:hunter2@proxy:9", "socks5h://proxy:9"), ("socks5://[::1]", "socks5://[::1]:1080"),
    ])
    func `a proxy is printed without its password`(url: String, text: String) throws {
        let proxy = try HTTPProxy.through(url)
        var dumped = ""
        dump(proxy, to: &dumped)
        #expect(proxy.description == text && !dumped.contains("hunter2"))
    }

    @Test(arguments: ["", "proxy:80", "ftp://proxy", "http://", "http://pro xy", "socks4://u:hunter2@proxy"])
    func `a malformed proxy is refused`(url: String) {
        let error = #expect(throws: TransportError.self) { try HTTPProxy.through(url) }
        #expect(error?.code == .badURL && error?.description.contains("hunter2") == false)
    }
}
