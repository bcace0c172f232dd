import Testing

@testable import SettleMobile

/// The order in which messages leave.
@Suite struct BLIPQueueTests {
    private var queue = BLIPQueue()

    private func message(
        _ kind: BLIPMessage.Kind, _ number: UInt64 = 0, bytes: Int = 1, isUrgent: Bool = false
    ) -> BLIPMessage {
        var message = BLIPMessage(kind, body: [UInt8](repeating: 7, count: bytes), isUrgent: isUrgent)
        message.number = number
        return message
    }

    /// The next piece, as sent with as many bytes as it has.
    private mutating func next() throws -> BLIPQueue.Piece? {
        guard case .piece(let piece) = queue.next() else { return nil }
        queue.sent(piece, bytes: piece.bytes.count)
        return piece
    }

    @Test mutating func `an urgent answer leaves before what waits, and urgent requests keep their order`() throws {
        queue.add(message(.request))
        queue.add(message(.reply, 40))
        queue.add(message(.request, isUrgent: true))
        queue.add(message(.reply, 41, isUrgent: true))
        queue.add(message(.error, 42, isUrgent: true))
        var order: [(UInt64, BLIPFlags.Kind?)] = []
        while let piece = try next() { order.append((piece.number, piece.flags.kind)) }
        #expect(order.map(\.0) == [41, 42, 1, 40, 2])
        #expect(order.map(\.1) == [.reply, .error, .request, .reply, .request])
        #expect(queue.bytesInMemory == 0)
    }

    @Test mutating func `messages take turns, a frame each`() throws {
        queue.add(message(.request, bytes: 40_000))
        queue.add(message(.request, bytes: 20_000))
        queue.add(message(.request))
        var order: [UInt64] = []
        while let piece = try next() {
            order.append(piece.number)
            #expect(piece.flags.contains(.moreComing) == !piece.isLast)
        }
        #expect(order == [1, 2, 3, 1, 2, 1])
    }

    @Test mutating func `a message with 128,000 bytes on their way waits for an acknowledgement of its own`() throws {
        queue.add(message(.request, bytes: 200_000))
        for _ in 0..<8 { #expect(try next()?.number == 1) }
        #expect(try next() == nil)
        queue.received(BLIPMessageKey(isReply: true, number: 1), bytes: 100_000)
        queue.received(BLIPMessageKey(isReply: false, number: 2), bytes: 100_000)
        #expect(try next() == nil)
        queue.received(BLIPMessageKey(isReply: false, number: 1), bytes: 50_000)
        for _ in 0..<4 { #expect(try next()?.number == 1) }
        // More than was sent can't be acknowledged.
        queue.received(BLIPMessageKey(isReply: false, number: 1), bytes: .max)
        #expect(try next()?.isLast == true)
        #expect(try next() == nil)
    }

    @Test mutating func `an acknowledgement leaves before messages`() throws {
        queue.add(message(.request))
        queue.acknowledge(BLIPMessageKey(isReply: true, number: 3), bytes: 50_000)
        guard case .acknowledgement(let frame) = queue.next() else {
            Issue.record("no acknowledgement")
            return
        }
        #expect(frame == [3, 0x35, 0xD0, 0x86, 0x03])
        #expect(try next()?.number == 1)
    }
}
