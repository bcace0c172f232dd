import SettleTesting
import Testing

@testable import SettleMobile

/// Frames of WebSockets, RFC 6455.
@Suite struct WebSocketTests {
    private func decode(_ pieces: [[UInt8]], isServer: Bool = true, limit: Int = 1 << 20) throws -> [WebSocketEvent] {
        var decoder = WebSocketDecoder(isServer: isServer, limit: limit)
        var events: [WebSocketEvent] = []
        for piece in pieces {
            piece.withUnsafeBytes { decoder.append($0) }
            while let event = try decoder.next() { events.append(event) }
        }
        return events
    }

    @Test func `the key of RFC 6455 has its answer`() {
        #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func `the newest known protocol is chosen`() {
        #expect(WebSocketHandshake.choose(among: "BLIP_3+CBMobile_2, BLIP_3+CBMobile_4") == "BLIP_3+CBMobile_4")
        #expect(WebSocketHandshake.choose(among: "BLIP_3+CBMobile_5") == nil)
    }

    @Test func `the examples of RFC 6455 are read`() throws {
        #expect(
            try decode([[0x89, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]]) == [
                .ping(Array("Hello".utf8))
            ])
        #expect(try decode([[0x82, 0x03, 1, 2, 3]], isServer: false) == [.message([1, 2, 3])])
    }

    @Test(arguments: 1...40) func `messages of any size come back, in pieces of any size`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let messages = (0..<8).map { _ in
            let length = [0, 1, 125, 126, 127, 65535, 65536, random.below(70_000)][random.below(8)]
            return random.bytes(length)
        }
        let encoder = WebSocketEncoder(isClient: true)
        let bytes = messages.flatMap { encoder.message($0) + encoder.ping() }
        var (pieces, place) = ([[UInt8]](), 0)
        while place < bytes.count {
            let end = min(place + 1 + random.below(9000), bytes.count)
            pieces.append(Array(bytes[place..<end]))
            place = end
        }
        #expect(try decode(pieces) == messages.flatMap { [.message($0), .ping([])] }, "seed \(seed)")
    }

    @Test func `a closing frame has a status and as much of a reason as there is room for`() throws {
        let encoder = WebSocketEncoder(isClient: false)
        #expect(encoder.close(4001, reason: "gone") == [0x88, 6, 0x0F, 0xA1] + Array("gone".utf8))
        let long = encoder.close(1000, reason: String(repeating: "ü", count: 200))
        #expect(long.count == 2 + 2 + 122 && String(validating: long[4...], as: UTF8.self) != nil)
        #expect(try decode([long], isServer: false) == [.close(status: 1000)])
        #expect(encoder.close(nil) == [0x88, 0])
    }

    @Test func `fragments are joined, and a ping may stand between them`() throws {
        let bytes: [UInt8] = [0x02, 0x01, 1, 0x89, 0x00, 0x00, 0x01, 2, 0x80, 0x01, 3]
        #expect(try decode([bytes], isServer: false) == [.ping([]), .message([1, 2, 3])])
    }

    @Test(
        arguments: [
            ([0x82, 0x01, 1], 1002), ([0x81, 0x80, 0, 0, 0, 0], 1003), ([0xC2, 0x80, 0, 0, 0, 0], 1002),
            ([0x83, 0x80, 0, 0, 0, 0], 1002), ([0x09, 0x80, 0, 0, 0, 0], 1002), ([0x80, 0x80, 0, 0, 0, 0], 1002),
            ([0x82, 0xFE, 0, 1, 0, 0, 0, 0, 7], 1002), ([0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002),
            ([0x82, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0], 1009), ([0x88, 0x81, 0, 0, 0, 0, 1], 1002),
        ] as [([UInt8], UInt16)])
    func `a broken rule ends the connection with its status`(bytes: [UInt8], status: UInt16) {
        let error = #expect(throws: WebSocketError.self) { try decode([bytes]) }
        #expect(error?.status == status)
    }

    @Test(arguments: 1...200) func `noise is read or refused, and never more than the limit is kept`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var decoder = WebSocketDecoder(isServer: true, limit: 5000)
        for _ in 0..<50 {
            let noise = random.bytes(random.below(300))
            noise.withUnsafeBytes { decoder.append($0) }
            do { while try decoder.next() != nil {} } catch { return }
            #expect(decoder.bytesInMemory < 12_000, "seed \(seed)")
        }
    }
}
