import SettlePlatform
import SettleTesting
import Testing

@testable import SettleMobile

/// Messages in frames, both ways.
@Suite struct BLIPTests {
    /// Two ends that hand their bytes to each other.
    private final class Pair: Sendable {
        let heard = Guarded<[BLIPMessage]>([])
        let answers = Guarded<[UInt64: Result<BLIPMessage, BLIPError>]>([:])
        let client: BLIPConnection
        let server: BLIPConnection

        init(_ limits: BLIPLimits = BLIPLimits()) {
            client = BLIPConnection(isServer: false, limits: limits, handler: { _ in })
            let heard = heard
            server = BLIPConnection(
                isServer: true, limits: limits, handler: { message in heard.withLock { $0.append(message) } })
        }

        /// Hands over all that is to be sent, until both are quiet; the number of frames.
        @discardableResult func run() throws -> Int {
            var count = 0
            while true {
                let (up, down) = (try client.nextOutput(), try server.nextOutput())
                try up?.withUnsafeBytes { try server.receive($0) }
                try down?.withUnsafeBytes { try client.receive($0) }
                guard up != nil || down != nil else { return count }
                count += 1
            }
        }

        func ask(_ number: UInt64, _ message: BLIPMessage) {
            client.send(message) { [answers] answer in answers.withLock { $0[number] = answer } }
        }
    }

    @Test func `a request arrives with its properties and body, and has its answer`() throws {
        let pair = Pair()
        pair.ask(
            1, BLIPMessage(properties: ["Profile": "getCheckpoint", "client": "cp-ä", "empty": ""], body: [1, 0, 2]))
        try pair.run()
        let request = try #require(pair.heard.withLock { $0.first })
        #expect(
            request.profile == "getCheckpoint" && request.properties["client"] == "cp-ä" && request.body == [1, 0, 2])
        #expect(request.properties["empty"] == "" && request.number == 1)
        pair.server.respond(to: request, with: .failure(.http(404, "missing")))
        try pair.run()
        #expect(pair.answers.withLock { $0[1] } == .failure(.http(404, "missing")))
    }

    @Test(arguments: 1...20) func `messages of many sizes alternate and come back whole`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let pair = Pair()
        let bodies = (0..<20).map { _ -> [UInt8] in
            let length = [0, 10, 199, 200, 16_000, 50_001, 300_000][random.below(7)]
            let isNoise = random.below(2) == 0
            return isNoise ? random.bytes(length) : random.compressibleBytes(length)
        }
        for (index, body) in bodies.enumerated() {
            pair.ask(UInt64(index + 1), BLIPMessage(properties: ["Profile": "\(index)"], body: body))
        }
        try pair.run()
        let heard = pair.heard.withLock(\.self)
        #expect(Set(heard.map(\.profile)).count == 20, "seed \(seed)")
        for message in heard {
            let body = bodies[Int(message.profile) ?? 0]
            #expect(message.body == body, "seed \(seed)")
            pair.server.respond(
                to: message, with: BLIPMessage(body: Array(body.reversed()), isUrgent: random.below(2) == 0))
        }
        try pair.run()
        for (index, body) in bodies.enumerated() {
            let answer = try pair.answers.withLock { $0[UInt64(index + 1)] }?.get()
            #expect(answer?.body == body.reversed(), "seed \(seed)")
        }
        #expect([pair.client, pair.server].allSatisfy { $0.outgoingBytes == 0 && $0.incomingBytes == 0 })
    }

    @Test func `a long message waits for acknowledgements, and others pass it`() throws {
        let pair = Pair()
        var random = SeededRandom(seed: 1)
        let noise = random.bytes(1_000_000)
        pair.ask(1, BLIPMessage(properties: ["Profile": "long"], body: noise))
        pair.ask(2, BLIPMessage(properties: ["Profile": "short"]))
        var sent = 0
        while let bytes = try pair.client.nextOutput() {
            sent += bytes.count
            try bytes.withUnsafeBytes { try pair.server.receive($0) }
        }
        #expect(sent > 128_000 && sent < 160_000)
        #expect(pair.heard.withLock { $0.map(\.profile) } == ["short"])
        try pair.run()
        #expect(pair.heard.withLock { $0.map(\.profile) } == ["short", "long"])
    }

    @Test(
        arguments: [
            ([1, 0x00, 0, 0, 0, 0, 0], "checksum"), ([2, 0x00, 0, 0xD2, 0x02, 0xEF, 0x8D], "request 2 begins"),
            ([1, 0x01, 0, 0xD2, 0x02, 0xEF, 0x8D], "was not asked"), ([1, 0x03, 0], "unknown kind"), ([1], "no head"),
            ([1, 0x00, 1], "no checksum"), ([1, 0x08, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], "not in the deflate"),
            ([1, 0x00, 9, 0xAB, 0xDE, 0x57, 0x29], "longer than the message"),
        ] as [([UInt8], String)])
    func `an error names the rule of the protocol that was broken`(frame: [UInt8], word: String) {
        let decoder = BLIPDecoder(BLIPLimits())
        let error = #expect(throws: BLIPError.self) { try decoder.read(frame) { _ in false } }
        #expect(error?.description.contains(word) == true, "\(String(describing: error))")
    }

    @Test func `a thousand begun messages, a bomb of zeros, and unanswered requests are cut off`() throws {
        var limits = BLIPLimits()
        limits.largestMessage = 100_000
        limits.maximumUnanswered = 10
        let writer = BLIPCodec(isWriter: true)
        let zeros = [UInt8](repeating: 0, count: 1_000_000)
        let bomb = [1, 0x08] + (try writer.deflate(zeros)) + [0, 0, 0, 0]
        #expect(bomb.count < 2000)
        #expect(throws: BLIPError.self) { try BLIPDecoder(limits).read(bomb) { _ in false } }
        let decoder = BLIPDecoder(limits)
        let sums = BLIPCodec(isWriter: true)
        let error = #expect(throws: BLIPError.self) {
            for number in 1...1000 {
                sums.add([1])
                var frame: [UInt8] = []
                VariableNumber.append(number, to: &frame)
                frame += [0x40, 1] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sums.checksum >> $0) }
                _ = try decoder.read(frame) { _ in false }
            }
        }
        #expect(error?.description == "more than 64 messages have begun")
        let pair = Pair(limits)
        for number in 1...11 { pair.ask(UInt64(number), BLIPMessage(properties: ["Profile": "x"])) }
        let crowded = try #require(#expect(throws: BLIPError.self) { try pair.run() })
        pair.server.close(for: crowded)
        #expect(try status(of: pair.server) == BLIPConnection.mayPass, "a slow server lets its client connect again")
    }

    /// The status of the closing frame that is to be sent.
    private func status(of connection: BLIPConnection) throws -> UInt16? {
        let frame = try #require(try connection.nextOutput())
        try #require(frame.count >= 4 && frame[0] == 0x88)
        return UInt16(frame[2]) << 8 | UInt16(frame[3])
    }

    @Test func `a violation closes with its status`() throws {
        let broken = Pair().server
        broken.close(for: BLIPError.broken("a frame has no head"))
        #expect(try status(of: broken) == 1002)
        let long = Pair().server
        long.close(for: WebSocketError.tooLarge(10))
        #expect(try status(of: long) == 1009)
    }

    @Test func `a request that is too long is read past and refused, and the connection goes on`() throws {
        var limits = BLIPLimits()
        (limits.largestRequest, limits.largestMessage) = (50_000, 200_000)
        let pair = Pair(limits)
        var random = SeededRandom(seed: 1)
        let noise = random.bytes(300_000)
        pair.ask(1, BLIPMessage(properties: ["Profile": "rev", "id": "long"], body: noise))
        pair.ask(2, BLIPMessage(properties: ["Profile": "rev", "id": "short"], body: Array(noise.prefix(49_000))))
        try pair.run()
        let heard = pair.heard.withLock(\.self)
        #expect(heard.map { $0.properties["id"] } == ["short"] && heard[0].body.count == 49_000)
        guard case .failure(let error) = pair.answers.withLock({ $0[1] }) else {
            Issue.record("the long request was not refused")
            return
        }
        #expect(error == .http(413, error.description) && error.description.contains("\"long\""))
        // An answer that is too long fails its request alone.
        pair.server.respond(to: heard[0], with: BLIPMessage(body: noise))
        try pair.run()
        let refused = pair.answers.withLock { $0[2] }
        #expect(throws: BLIPError.http(413, "the answer has more than 200000 bytes, the most that is taken")) {
            try refused?.get()
        }
        pair.ask(3, BLIPMessage(properties: ["Profile": "last"]))
        try pair.run()
        #expect(pair.heard.withLock { $0.last?.profile } == "last" && pair.server.incomingBytes == 0)
    }

    @Test func `while much has come in part, messages come one after the other`() throws {
        var limits = BLIPLimits()
        (limits.maximumBytesAtOnce, limits.maximumIncomingBytes) = (300_000, 2_500_000)
        let pair = Pair(limits)
        var random = SeededRandom(seed: 2)
        for number in 1...10 {
            let noise = random.bytes(400_000)
            pair.ask(UInt64(number), BLIPMessage(properties: ["Profile": "\(number)"], body: noise))
        }
        // Ten of them have four million bytes. More than `maximumIncomingBytes` would end the connection.
        try pair.run()
        #expect(Set(pair.heard.withLock { $0.map(\.profile) }) == Set((1...10).map(String.init)))
        #expect(pair.heard.withLock { $0.allSatisfy { $0.body.count == 400_000 } })
        #expect(pair.server.incomingBytes == 0)
    }

    @Test func `of many pings one is answered, and nothing is read after a goodbye`() throws {
        let server = BLIPConnection(isServer: true, limits: BLIPLimits(), handler: { _ in })
        let client = WebSocketEncoder(isClient: true)
        func receive(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try server.receive($0) } }
        for _ in 0..<1000 { try receive(client.ping()) }
        #expect(try server.nextOutput() == [0x8A, 0] && server.nextOutput() == nil)
        try receive(client.close(1000))
        try receive([0xFF, 0xFF, 0xFF])
        #expect(try server.nextOutput() == [0x88, 2, 0x03, 0xE8] && server.nextOutput() == nil)
        #expect(server.isClosing && server.outgoingBytes == 0 && server.incomingBytes == 0)
    }

    @Test func `a connection that is closed while nothing is to be sent still has its close frame to send`() throws {
        let server = BLIPConnection(isServer: true, limits: BLIPLimits(), handler: { _ in })
        #expect(try server.nextOutput() == nil && !server.hasNoMoreOutput)
        server.close(BLIPConnection.mayPass, reason: "x")
        #expect(server.isClosing && !server.hasNoMoreOutput)
        #expect(try server.nextOutput() == [0x88, 3, 0x0F, 0xA1, 0x78])
        #expect(server.hasNoMoreOutput)
    }

    @Test(arguments: 1...300) func `changed frames are read or refused`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let encoder = BLIPEncoder()
        var queue = BLIPQueue()
        for index in 0..<6 {
            queue.add(
                BLIPMessage(
                    properties: ["Profile": "changes", "n": "\(index)"],
                    body: random.compressibleBytes(random.below(60_000))))
        }
        let decoder = BLIPDecoder(BLIPLimits())
        while case .piece(let piece) = queue.next(), let made = try? encoder.frame(piece) {
            var frame = made.frame
            queue.sent(piece, bytes: made.bytes)
            if random.below(3) == 0, !frame.isEmpty { frame[random.below(frame.count)] = UInt8(random.below(256)) }
            if random.below(20) == 0 { frame = Array(frame.prefix(random.below(frame.count + 1))) }
            do { _ = try decoder.read(frame) { _ in false } } catch { return }
            #expect(decoder.bytesInMemory <= BLIPLimits().maximumIncomingBytes, "seed \(seed)")
        }
    }
}
