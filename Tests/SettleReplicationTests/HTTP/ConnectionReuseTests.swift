import Foundation
import Settle
import SettleDatabase
import SettlePlatform
import SettleReplication
import Testing

@testable import SettleHTTP

/// How connections are shared, kept alive and lost, and where redirects lead.
@Suite(.timeLimit(.minutes(5))) struct ConnectionReuseTests {
    private static func answer(_ peer: RawPeer, _ body: String = "ok") throws {
        try peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test(.disabled(if: Corelibs.isUsed, "it opens connections anew under load"))
    func `a hundred concurrent requests share the limited connections`() async throws {
        let server = try RawServer { peer in
            while try peer.readRequest() != nil {
                usleep(2000)
                try Self.answer(peer)
            }
        }
        var options = TransportOptions()
        options.connectionsPerHost = 6
        let client = DefaultTransport(options)
        let url = try HTTPURL(server.url)
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { try await client.send(HTTPRequest("GET", url)).collect(limit: 10) }
            }
            for try await body in group { #expect(body == Array("ok".utf8)) }
        }
        #expect(2...6 ~= server.accepted)
        for _ in 0..<20 { _ = try await client.send(HTTPRequest("GET", url)).collect(limit: 10) }
        #expect(server.accepted <= 6, "a connection that was free was not used again")
    }

    @Test(.disabled(if: Corelibs.isUsed, "waiting counts as silence"))
    func `waiting for a free connection counts towards the total time, not as silence`() async throws {
        let (held, goOn) = (Promise<Bool>(), DispatchSemaphore(value: 0))
        let server = try RawServer { peer in
            while let request = try peer.readRequest() {
                if request.head.hasPrefix("GET /first") {
                    held.fulfil(true)
                    goOn.wait()
                }
                try Self.answer(peer)
            }
        }
        var options = TransportOptions()
        options.connectionsPerHost = 1
        let client = DefaultTransport(options)
        let url = try HTTPURL(server.url)
        let first = Task { try await client.send(HTTPRequest("GET", url.appending("first"))).status }
        #expect(await held.get())
        var late = HTTPRequest("GET", url)
        late.timeout = .seconds(31)
        var patient = HTTPRequest("GET", url)
        patient.idleTimeout = .seconds(30)
        let waiting = Task { [patient] in try await client.send(patient).status }
        let error = await #expect(throws: TransportError.self) { try await client.send(late) }
        #expect(error?.code == .timedOut)
        goOn.signal()
        #expect(try await first.value == 200)
        #expect(try await waiting.value == 200)
        #expect(server.accepted == 1)
    }

    @Test(arguments: ["GET", "POST", "PUT"])
    func `a connection that was closed while idle is opened again`(method: String) async throws {
        let (closed, bodies) = (Promise<Bool>(), Guarded<[String]>([]))
        let server = try RawServer { peer in
            guard let request = try peer.readRequest() else { return }
            bodies.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
            try Self.answer(peer)
            peer.close()
            closed.fulfil(true)
        }
        let client = DefaultTransport()
        for number in 1...2 {
            var request = HTTPRequest(method, try HTTPURL(server.url))
            if method == "POST" { request.body = .bytes(Array("body \(number)".utf8)) }
            if method == "PUT" {
                request.body = .stream(length: nil) {
                    let isFirst = Guarded(true)
                    return {
                        isFirst.withLock { isFirst in
                            defer { isFirst = false }
                            return isFirst ? Array("body \(number)".utf8) : nil
                        }
                    }
                }
            }
            #expect(try await client.send(request).collect(limit: 10) == Array("ok".utf8))
            #expect(await closed.get())
        }
        #expect(server.accepted == 2)
        #expect(bodies.withLock { $0 } == (method == "GET" ? ["", ""] : ["body 1", "body 2"]))
    }

    @Test(.disabled(if: Corelibs.isUsed, "it is not sent again"))
    func `a request without an answer on a reused connection is sent again, a POST too`() async throws {
        let arrived = Guarded(0)
        let server = try RawServer { peer in
            // The first connection answers once, takes the next request, and does not respond.
            while try peer.readRequest() != nil {
                let number = arrived.withLock { arrived in
                    arrived += 1
                    return arrived
                }
                if number == 2 { return }
                try Self.answer(peer)
            }
        }
        let client = DefaultTransport()
        var request = HTTPRequest("POST", try HTTPURL(server.url), body: .bytes([1, 2, 3]))
        for _ in 0..<2 { #expect(try await client.send(request).collect(limit: 10) == Array("ok".utf8)) }
        #expect(arrived.withLock { $0 } == 3 && server.accepted == 2)
        // On a new connection it is not.
        let closing = try RawServer.closing()
        request.url = try HTTPURL(closing.url)
        let error = await #expect(throws: TransportError.self) { try await client.send(request) }
        #expect(error?.isTransient == true)
    }

    @Test func `a redirect is followed, and sends no secret to another host`() async throws {
        let heads = Guarded<[String]>([])
        let other = try RawServer { peer in
            while let request = try peer.readRequest() {
                heads.withLock { $0.append(request.head) }
                try Self.answer(peer, "there")
            }
        }
        let server = try RawServer { peer in
            while let request = try peer.readRequest() {
                heads.withLock { $0.append(request.head) }
                let location = request.head.hasPrefix("GET /a ") ? "/b?c=d" : other.url + "/e"
                try peer.write("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var request = HTTPRequest("GET", try HTTPURL(server.url + "/a"))
        request.headers = [
            "Authorization": "secret", "Cookie": "secret", "X-Auth-CouchDB-Token": "secret", "Accept": "text/plain",
        ]
        let response = try await DefaultTransport().send(request)
        #expect(try await response.collect(limit: 10) == Array("there".utf8))
        let seen = heads.withLock { $0 }
        #expect(seen.map { $0.split(separator: " ")[1] } == ["/a", "/b?c=d", "/e"])
        #expect(seen.map { $0.contains("secret") } == [true, true, false])
        #expect(seen[2].contains("Accept: text/plain"))
    }

    @Test func `an endless redirect is given up, and one of a POST is not followed`() async throws {
        let server = try RawServer { peer in
            while try peer.readRequest() != nil {
                try peer.write("HTTP/1.1 307 Go\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let client = DefaultTransport()
        let url = try HTTPURL(server.url)
        let error = await #expect(throws: TransportError.self) {
            try await client.send(HTTPRequest("GET", url))
        }
        #expect(error?.code == .badRedirect && server.accepted == 1)
        #expect(try await client.send(HTTPRequest("POST", url)).status == 307)
    }

    @Test(arguments: [("/y", ["AuthSession=a"]), ("http://b/y", []), ("https://a/y", [])] as [(String, [String])])
    func `a redirect brings no cookie of another host`(location: String, cookies: [String]) async throws {
        let request = HTTPRequest("GET", try HTTPURL("http://a/x"))
        let response = try await HTTPRedirect.follow(request, TransportOptions()) { request in
            HTTPResponse(
                status: request.url.path == "/x" ? 302 : 200,
                headers: ["Location": location, "Set-Cookie": "AuthSession=\(request.url.host)"])
        }
        #expect(response.status == 200 && response.headers.all("Set-Cookie") == cookies)
    }

    @Test(
        arguments: [
            (.seconds(Int64.min), 1), (.milliseconds(-5), 1), (.zero, 1), (.milliseconds(1500), 1500),
            (.seconds(Int64.max), 1 << 30),
        ] as [(Duration, Int)])
    func `a time limit of any length has a number of milliseconds`(limit: Duration, milliseconds: Int) {
        #expect(limit.milliseconds == milliseconds)
    }

    @Test func `redirects use up the total time of a request`() async throws {
        var request = HTTPRequest("GET", try HTTPURL("http://h/a"))
        request.timeout = .seconds(60)
        let times = Guarded<[Duration]>([])
        let response = try await HTTPRedirect.follow(request, TransportOptions()) { request in
            let count = times.withLock { times in
                times.append(request.timeout ?? .zero)
                return times.count
            }
            return HTTPResponse(status: count < 3 ? 302 : 200, headers: ["Location": "/b"])
        }
        let seen = times.withLock(\.self)
        #expect(response.status == 200 && seen.first == .seconds(60))
        #expect(seen.count == 3 && zip(seen, seen.dropFirst()).allSatisfy { $0 > $1 })
        request.timeout = .zero
        let late = request
        let error = await #expect(throws: TransportError.self) {
            _ = try await HTTPRedirect.follow(late, TransportOptions()) { _ in
                HTTPResponse(status: 302, headers: ["Location": "/b"])
            }
        }
        #expect(error?.code == .timedOut)
    }

    #if os(Linux) && !SETTLE_APPLE
    @Test func `a request that was cancelled before it started is not sent`() async throws {
        let heads = Guarded<[String]>([])
        let server = try RawServer { peer in
            while let request = try peer.readRequest() {
                heads.withLock { $0.append(String(request.head.prefix(9))) }
                try Self.answer(peer)
            }
        }
        var options = TransportOptions()
        options.connectionsPerHost = 1
        let mailbox = CurlMailbox()
        CurlThread.start(mailbox, options)
        defer { mailbox.post(.close) }
        let late = CurlTransfer(HTTPRequest("GET", try HTTPURL(server.url + "/late")), mailbox: mailbox)
        late.cancel()
        #expect(mailbox.post(.start(late)))
        let next = CurlTransfer(HTTPRequest("GET", try HTTPURL(server.url + "/next")), mailbox: mailbox)
        #expect(try await next.start().status == 200)
        #expect(heads.withLock(\.self) == ["GET /next"])
    }
    #endif

    @Test func `bodies are sent compressed, unless this is off`() async throws {
        let head = Promise<String>()
        let server = try RawServer { peer in
            guard let request = try peer.readRequest() else { return }
            head.fulfil(request.head)
            let text = String(decoding: try Self.expand(request.body), as: UTF8.self)
            try Self.answer(peer, "\(text.utf8.count)")
        }
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        let request = HTTPRequest("POST", try HTTPURL(server.url), headers: Self.json, body: .bytes(body))
        #expect(try await DefaultTransport().send(request).collect(limit: 10) == Array("100000".utf8))
        #expect(await head.get().contains("Content-Encoding: gzip\r\n"))
        let plain = try RawServer { peer in
            guard let request = try peer.readRequest() else { return }
            try Self.answer(peer, "\(request.body.count) \(request.head.contains("Content-Encoding"))")
        }
        var options = TransportOptions()
        options.compressesRequests = false
        let other = HTTPRequest("POST", try HTTPURL(plain.url), headers: Self.json, body: .bytes(body))
        #expect(try await DefaultTransport(options).send(other).collect(limit: 20) == Array("100000 false".utf8))
    }

    @Test(arguments: [400, 415])
    func `a server that refuses a compressed body gets it plain, and no other compressed one`(
        status: Int
    ) async throws {
        let heads = Guarded<[Bool]>([])
        let server = try RawServer { peer in
            while let request = try peer.readRequest() {
                let isCompressed = request.head.contains("Content-Encoding: gzip")
                heads.withLock { $0.append(isCompressed) }
                let text = isCompressed ? "no" : "\(request.body.count)"
                let line = isCompressed ? "\(status) Refused" : "200 OK"
                try peer.write("HTTP/1.1 \(line)\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
            }
        }
        let client = DefaultTransport(Self.compressing)
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        let request = HTTPRequest("POST", try HTTPURL(server.url), headers: Self.json, body: .bytes(body))
        for _ in 0..<2 { #expect(try await client.send(request).collect(limit: 10) == Array("100000".utf8)) }
        #expect(heads.withLock(\.self) == [true, false, false])
    }

    @Test func `a request that is refused either way is answered as it is, and the next is compressed again`()
        async throws
    {
        let heads = Guarded<[Bool]>([])
        let server = try RawServer { peer in
            while let request = try peer.readRequest() {
                heads.withLock { $0.append(request.head.contains("Content-Encoding: gzip")) }
                try peer.write("HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\nno")
            }
        }
        let client = DefaultTransport(Self.compressing)
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        let request = HTTPRequest("POST", try HTTPURL(server.url), headers: Self.json, body: .bytes(body))
        for _ in 0..<2 { #expect(try await client.send(request).status == 400) }
        #expect(heads.withLock(\.self) == [true, false, true, false])
    }

    @Test(arguments: [(Duration.seconds(60), true), (.zero, false)])
    func `nothing is compressed for a server that has answered within the distance of the options`(
        distance: Duration, isNear: Bool
    ) async throws {
        #expect(TransportOptions().compressesBeyond == .milliseconds(2))
        let heads = Guarded<[String]>([])
        let server = try RawServer { peer in
            while let request = try peer.readRequest() {
                heads.withLock { $0.append(request.head) }
                try Self.answer(peer, "ok")
            }
        }
        var options = TransportOptions()
        options.compressesBeyond = distance
        let client = DefaultTransport(options)
        let url = try HTTPURL(server.url)
        #expect(try await client.send(HTTPRequest("GET", url)).collect(limit: 2).count == 2)
        let body = HTTPBody.bytes([UInt8](repeating: UInt8(ascii: "a"), count: 100_000))
        var request = HTTPRequest("POST", url, headers: Self.json, body: body)
        request.acceptsCompression = true
        #expect(try await client.send(request).status == 200)
        let head = heads.withLock { $0.last ?? "" }
        #expect(head.contains("Content-Encoding: gzip\r\n") == !isNear)
        let accepted = head.split(separator: "\r\n").first { $0.hasPrefix("Accept-Encoding") } ?? ""
        #expect(accepted.contains("gzip") == !isNear)
    }

    @Test func `a quick response stops counting, because the server may be far away by then`() async throws {
        var options = TransportOptions()
        options.compressesBeyond = .seconds(60)
        let body = HTTPBody.bytes([UInt8](repeating: UInt8(ascii: "a"), count: 100_000))
        let request = HTTPRequest("POST", try HTTPURL("http://a/"), headers: Self.json, body: body)
        for (memory, wanted) in [(Duration.seconds(60), [true, false, false]), (.zero, [true, true, true])] {
            let (compression, sent) = (HTTPCompression(options, memory: memory), Guarded<[Bool]>([]))
            for _ in 0..<3 {
                _ = try await compression.send(request) { request in
                    sent.withLock { $0.append(request.headers["Content-Encoding"] == "gzip") }
                    return HTTPResponse(status: 200, headers: HTTPHeaders(), body: .none)
                }
            }
            #expect(sent.withLock(\.self) == wanted, "\(memory)")
        }
    }

    @Test(
        arguments: [
            ("POST", "application/json", true), ("POST", "Application/JSON; charset=utf-8", true),
            ("POST", "text/plain", false), ("POST", nil, false), ("PUT", "application/json", false),
            ("PUT", "text/plain", false),
        ] as [(String, String?, Bool)])
    func `only the JSON of a POST is compressed, because a server stores an attachment as it arrives`(
        method: String, type: String?, isCompressed: Bool
    ) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        var request = HTTPRequest(method, try HTTPURL("http://a/db/a/f"), body: .bytes(body))
        request.headers["Content-Type"] = type
        let sent = Guarded<[HTTPRequest]>([])
        _ = try await HTTPCompression(Self.compressing).send(request) { request in
            sent.withLock { $0.append(request) }
            return HTTPResponse(status: 201)
        }
        let first = try #require(sent.withLock(\.self).first)
        #expect(first.headers["Content-Encoding"] == (isCompressed ? "gzip" : nil))
        #expect((first.body.length == 100_000) == !isCompressed)
    }

    private static let json: HTTPHeaders = ["Content-Type": "application/json"]

    /// Options of a client for which no server is near.
    private static var compressing: TransportOptions {
        var options = TransportOptions()
        options.compressesBeyond = .zero
        return options
    }

    private static func expand(_ bytes: [UInt8]) throws -> [UInt8] {
        var all: [UInt8] = []
        try bytes.withUnsafeBytes { try Gzip(.expand).process($0, isLast: true) { all.append(contentsOf: $0) } }
        return all
    }
}
