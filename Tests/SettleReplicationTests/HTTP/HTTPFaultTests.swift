import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleReplication
import Testing

/// Servers that are slow, silent, flooding or gone.
@Suite(.timeLimit(.minutes(5))) struct HTTPFaultTests {
    private let client = DefaultTransport()

    private func request(_ server: RawServer, _ path: String = "/", method: String = "GET") throws -> HTTPRequest {
        HTTPRequest(method, try HTTPURL(server.url + path))
    }

    @Test func `a server that never answers times out`() async throws {
        let server = try RawServer { _ = try $0.readToEnd() }
        var request = try request(server)
        request.idleTimeout = .milliseconds(200)
        let error = await #expect(throws: TransportError.self) { try await client.send(request) }
        #expect(error?.code == .timedOut && error?.isTransient == true)
        #expect(error?.message.contains("127.0.0.1:\(server.port)") == true)
    }

    @Test func `a body that stalls times out, a slow one does not`() async throws {
        let longest = Promise<Duration>()
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            do {
                var (gap, last) = (Duration.zero, ContinuousClock.now)
                defer { longest.fulfil(max(gap, ContinuousClock.now - last)) }
                for _ in 0..<4 {
                    let before = last
                    last = .now
                    try peer.write("x")
                    gap = max(gap, ContinuousClock.now - before)
                    // Slow: all pieces take longer than the time without a byte that the client allows, and each less.
                    usleep(1_500_000)
                }
            }
            _ = try peer.readToEnd()
        }
        var request = try request(server)
        // Shorter than the whole response takes.
        request.idleTimeout = .seconds(5)
        let response = try await client.send(request)
        var count = 0
        let error = await #expect(throws: TransportError.self) {
            for try await piece in response.body { count += piece.count }
        }
        let gap = await longest.get()
        #expect(error?.code == .timedOut && (count == 4 || gap >= .seconds(5)), "\(count) of 4, \(gap)")
    }

    @Test func `the total time is limited`() async throws {
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\n\r\n")
            while true {
                try peer.write("x")
                usleep(10_000)
            }
        }
        var request = try request(server)
        request.timeout = .milliseconds(300)
        let error = await #expect(throws: TransportError.self) {
            // On a busy machine the time is over before the head is there.
            try await client.send(request).collect(limit: 1 << 20)
        }
        #expect(error?.code == .timedOut)
    }

    @Test(.disabled(if: Corelibs.isUsed, "it holds the whole download"))
    func `a reader that does not read slows the server down, and fills no memory`() async throws {
        let accepted = Promise<Int>()
        let total = 64 << 20
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let piece = [UInt8](repeating: 1, count: 1 << 20)
            var sent = 0
            defer { accepted.fulfil(sent) }
            while sent < total {
                let count = try peer.writeSome(Array(piece.prefix(total - sent)), milliseconds: 31_000)
                if count == 0 { accepted.fulfil(sent) }
                sent += count
            }
        }
        var request = try request(server)
        // The silence is the reader's, so it does not count.
        request.idleTimeout = .seconds(30)
        let response = try await client.send(request)
        let held = await accepted.get()
        #expect(held < 24 << 20, "the system's buffers and 256 KiB of ours")
        var count = 0
        for try await piece in response.body { count += piece.count }
        #expect(count == total)
    }

    @Test(.disabled(if: Corelibs.isUsed, "it has no bound streams"))
    func `a server that does not read slows the producer down`() async throws {
        let produced = Guarded(0)
        let (silent, goOn) = (Promise<Int>(), DispatchSemaphore(value: 0))
        let total = 64 << 20
        let server = try RawServer { peer in
            _ = try peer.read(through: "\r\n\r\n")
            var last = -1
            while last != produced.withLock({ $0 }) {
                last = produced.withLock { $0 }
                // A producer that is slowed down shows it only by producing nothing for a while.
                usleep(300_000)
            }
            silent.fulfil(last)
            goOn.wait()
            let body = try peer.read(count: total)
            try peer.write("HTTP/1.1 201 Created\r\nX-Count: \(body.count)\r\nContent-Length: 0\r\n\r\n")
        }
        var request = try request(server, method: "PUT")
        request.body = .stream(length: Int64(total)) {
            {
                produced.withLock { produced in
                    guard produced < total else { return nil }
                    produced += 1 << 20
                    return [UInt8](repeating: 7, count: 1 << 20)
                }
            }
        }
        let sending = Task { [request] in try await client.send(request) }
        let held = await silent.get()
        #expect(held < 24 << 20)
        goOn.signal()
        #expect(try await sending.value.headers["X-Count"] == "\(total)")
    }

    @Test func `a cancelled request ends at once, and the server notices`() async throws {
        let (asked, gone) = (Promise<Bool>(), Promise<Bool>())
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            asked.fulfil(true)
            _ = try? peer.readToEnd()
            gone.fulfil(true)
        }
        let request = try request(server)
        let sending = Task { try await client.send(request) }
        #expect(await asked.get())
        sending.cancel()
        let error = await #expect(throws: TransportError.self) { try await sending.value }
        #expect(error?.code == .cancelled && error?.isTransient == false)
        #expect(await gone.get())
    }

    @Test func `a cancelled task sends no request`() async throws {
        let server = try RawServer { _ = try $0.readRequest() }
        let request = try request(server)
        let sending = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(request)
        }
        let error = await #expect(throws: TransportError.self) { try await sending.value }
        #expect(error?.code == .cancelled && server.accepted == 0)
    }

    @Test(arguments: [false, true])
    func `releasing an answer, or cancelling its reader, ends the transfer`(cancels: Bool) async throws {
        let gone = Promise<Bool>()
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
            _ = try? peer.readToEnd()
            gone.fulfil(true)
        }
        let request = try request(server)
        let begun = Promise<Bool>()
        let reading = Task {
            let response = try await client.send(request)
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next() == [UInt8(ascii: "x")])
            guard cancels else { return }
            begun.fulfil(true)
            _ = try await iterator.next()
        }
        if cancels {
            #expect(await begun.get())
            reading.cancel()
            let error = await #expect(throws: TransportError.self) { try await reading.value }
            #expect(error?.code == .cancelled)
        }
        #expect(await gone.get())
    }

    @Test func `an answer that outlives its client can be read to its end`() async throws {
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n")
            try peer.write([UInt8](repeating: 1, count: 3_000_000))
        }
        let response = try await DefaultTransport().send(try request(server))
        #expect(try await response.collect(limit: 3_000_000).count == 3_000_000)
    }

    @Test func `a producer that fails ends the request with its error`() async throws {
        struct Broken: Error {}
        let server = try RawServer { _ = try $0.readToEnd() }
        var request = try request(server, method: "PUT")
        request.body = .stream(length: nil) { { throw Broken() } }
        let error = await #expect(throws: TransportError.self) { try await client.send(request) }
        #expect(error?.code == .bodyFailed && error?.cause is Broken)
        request.body = .stream(length: 10) {
            let isFirst = Guarded(true)
            return {
                isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst ? [1, 2, 3] : nil
                }
            }
        }
        let short = await #expect(throws: TransportError.self) { try await client.send(request) }
        #expect(short?.code == .bodyFailed)
    }

    @Test(
        .disabled(if: Corelibs.isUsed, "its errors have no codes for this"),
        arguments: [
            "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        ])
    func `an answer that is not HTTP is an error`(answer: String) async throws {
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            try peer.write(answer)
        }
        var request = try request(server)
        request.acceptsCompression = true
        let error = await #expect(throws: TransportError.self) {
            try await client.send(request).collect(limit: 1000)
        }
        #expect(error.map { [.badAnswer, .connectionLost].contains($0.code) } == true)
    }

    @Test(.disabled(if: Corelibs.isUsed, "it reads an endless head")) func `an endless head is refused`() async throws {
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\n")
            for number in 0..<100_000 { try peer.write("X-\(number): \(String(repeating: "x", count: 1000))\r\n") }
        }
        let error = await #expect(throws: TransportError.self) { try await client.send(try request(server)) }
        #expect(error?.code == .badAnswer)
    }

    @Test func `an answer over the limit is refused`() async throws {
        let server = try RawServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\n\r\n")
            while true { try peer.write([UInt8](repeating: 1, count: 10_000)) }
        }
        let error = await #expect(throws: TransportError.self) {
            try await client.send(try request(server)).collect(limit: 100_000)
        }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func `an answer over the limit gives its connection back, even while it is kept`() async throws {
        let server = try RawServer { peer in
            while let request = try peer.readRequest() {
                if request.head.hasPrefix("GET /long ") {
                    try peer.write("HTTP/1.1 200 OK\r\n\r\n")
                    while true { try peer.write([UInt8](repeating: 1, count: 10_000)) }
                }
                try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        var options = TransportOptions()
        options.connectionsPerHost = 1
        let client = DefaultTransport(options)
        let long = try await client.send(try request(server, "/long"))
        await #expect(throws: TransportError.self) { try await long.collect(limit: 100_000) }
        var next = try request(server)
        next.timeout = .seconds(60)
        #expect(try await client.send(next).collect(limit: 10) == Array("ok".utf8))
        withExtendedLifetime(long) {}
    }

    @Test func `a refused connection and an unknown host are distinguished`() async throws {
        let refused = await #expect(throws: TransportError.self) {
            try await client.send(HTTPRequest("GET", HTTPURL("http://u:hunter2@127.0.0.1:1/x?y=hunter2")))
        }
        #expect(refused?.code == .cannotConnect && refused?.isOffline == true)
        #expect(refused?.message.contains("127.0.0.1:1:") == true && refused?.description.contains("hunter2") == false)
        let unknown = await #expect(throws: TransportError.self) {
            try await client.send(HTTPRequest("GET", HTTPURL("http://nobody.invalid/")))
        }
        #expect(unknown?.code == .cannotResolve && unknown?.message.contains("nobody.invalid") == true)
    }

    @Test func `a header can't contain a line end`() async throws {
        let server = try RawServer { _ = try $0.readRequest() }
        for headers: HTTPHeaders in [
            ["X": "a\r\nY: b"], ["X\r\nY": "b"], ["X": "a\u{0}"], ["Content-Length": "5"], ["Host": "other"], ["": "x"],
        ] {
            var request = try request(server)
            request.headers = headers
            let error = await #expect(throws: TransportError.self) { try await client.send(request) }
            #expect(error?.code == .badRequest)
        }
        let error = await #expect(throws: TransportError.self) {
            try await client.send(try request(server, method: "GET / HTTP/1.1\r\nX:"))
        }
        #expect(error?.code == .badRequest && server.accepted == 0)
    }
}
