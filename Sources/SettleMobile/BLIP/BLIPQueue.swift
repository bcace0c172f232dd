internal import SettlePlatform

/// The waiting messages of one direction, and the order of their frames.
///
///     urgent answers ──┐
///     other messages ──┴→ next ─→ frame on the wire ─→ sent ─┬→ the end of the other messages
///                                                            └→ frozen, until an acknowledgement comes
///
/// Messages take turns, one frame each, and an urgent answer begins before other messages. A message with 128,000
/// unacknowledged bytes waits, without delaying the rest. The first frames of requests are sent in the order of
/// their numbers.
struct BLIPQueue {
    /// The next output.
    enum Next {
        case acknowledgement([UInt8])
        case piece(Piece)
    }

    /// The bytes of one frame, before compression.
    struct Piece {
        fileprivate var message: Message
        let bytes: [UInt8]
        var number: UInt64 { message.key.number }
        var flags: BLIPFlags { isLast ? message.flags : message.flags.union(.moreComing) }
        var isLast: Bool { message.place == message.payload.count }
    }

    fileprivate struct Message {
        let key: BLIPMessageKey
        let flags: BLIPFlags
        let payload: [UInt8]
        var place = 0
    }

    private static let maximumUnacknowledged: UInt64 = 128_000
    /// The bytes of a message in one frame, before compression.
    private static let frameLength = 16_000
    /// The length from which bodies are compressed; shorter ones would gain nothing.
    private static let compressedFrom = 200

    private var urgent = Queue<Message>()
    private var others = Queue<Message>()
    private var frozen: [Message] = []
    /// The numbers of sent and of acknowledged frame bytes, for messages that are partly sent.
    private var begun: [BLIPMessageKey: (sent: UInt64, received: UInt64)] = [:]
    private var acknowledgements = Queue<[UInt8]>()
    private var requests: UInt64 = 0
    /// The size of the messages' unsent bytes.
    private(set) var bytesInMemory = 0
    /// The total size of messages that are not completely sent: each is kept as a whole until then.
    private(set) var bytesHeld = 0

    /// Adds a message to the queue.
    ///
    /// - Returns: The number of a request, which its answer will have too.
    @discardableResult mutating func add(_ message: BLIPMessage) -> UInt64 {
        let isReply = message.kind != .request
        if !isReply { requests += 1 }
        let key = BLIPMessageKey(isReply: isReply, number: isReply ? message.number : requests)
        let kind: BLIPFlags.Kind =
            switch message.kind {
            case .request: .request
            case .reply: .reply
            case .error: .error
            }
        let payload = message.payload
        var flags = BLIPFlags(kind)
        if message.isUrgent { flags.insert(.urgent) }
        if message.isSilent { flags.insert(.noReply) }
        if payload.count >= Self.compressedFrom { flags.insert(.compressed) }
        bytesInMemory += payload.count
        bytesHeld += payload.count
        let waiting = Message(key: key, flags: flags, payload: payload)
        // Requests keep their order, urgent or not.
        if message.isUrgent, isReply { urgent.append(waiting) } else { others.append(waiting) }
        return key.number
    }

    /// Adds an acknowledgement, which is sent before everything else.
    mutating func acknowledge(_ key: BLIPMessageKey, bytes: UInt64) {
        var frame: [UInt8] = []
        VariableNumber.append(key.number, to: &frame)
        let flags = BLIPFlags(key.isReply ? .replyReceived : .requestReceived, [.urgent, .noReply])
        frame.append(flags.rawValue)
        VariableNumber.append(bytes, to: &frame)
        acknowledgements.append(frame)
    }

    /// Records how many bytes of a message the other end has received.
    mutating func received(_ key: BLIPMessageKey, bytes: UInt64) {
        guard let counts = begun[key] else { return }
        begun[key]?.received = max(counts.received, min(bytes, counts.sent))
        guard !isFrozen(key), let index = frozen.firstIndex(where: { $0.key == key }) else { return }
        others.append(frozen.remove(at: index))
    }

    private func isFrozen(_ key: BLIPMessageKey) -> Bool {
        begun[key].map { $0.sent - $0.received >= Self.maximumUnacknowledged } ?? false
    }

    /// Removes and returns the next output; `nil` if there is nothing to send. After a piece, call
    /// ``sent(_:bytes:)``.
    mutating func next() -> Next? {
        if let frame = acknowledgements.popFirst() { return .acknowledgement(frame) }
        guard var message = urgent.popFirst() ?? others.popFirst() else { return nil }
        let end = min(message.place + Self.frameLength, message.payload.count)
        let bytes = Array(message.payload[message.place..<end])
        message.place = end
        bytesInMemory -= bytes.count
        return .piece(Piece(message: message, bytes: bytes))
    }

    /// Records that a piece's frame is sent, and queues the rest of its message.
    ///
    /// - Parameters:
    ///   - piece: The piece.
    ///   - bytes: The number of bytes in the frame after its head.
    mutating func sent(_ piece: Piece, bytes: Int) {
        let key = piece.message.key
        guard !piece.isLast else {
            bytesHeld = max(bytesHeld - piece.message.payload.count, 0)
            begun[key] = nil
            return
        }
        begun[key, default: (0, 0)].sent += UInt64(bytes)
        if isFrozen(key) { frozen.append(piece.message) } else { others.append(piece.message) }
    }
}

/// Identifies a message in one direction.
struct BLIPMessageKey: Hashable {
    /// Whether it answers a request of the other end.
    let isReply: Bool
    let number: UInt64
}

// MARK: - BLIPEncoder

/// Makes the frames of one direction, in the order in which they are sent.
///
///     varint number · varint flags · body, maybe compressed · CRC-32 of all bodies so far
///
/// Used by one thread at a time.
final class BLIPEncoder {
    private let codec = BLIPCodec(isWriter: true)

    /// Makes a frame.
    ///
    /// - Parameter piece: The next piece of a message.
    /// - Returns: The frame, and the number of its bytes after the head.
    /// - Throws: ``BLIPError`` if zlib fails; the connection is then unusable.
    func frame(_ piece: BLIPQueue.Piece) throws(BLIPError) -> (frame: [UInt8], bytes: Int) {
        codec.add(piece.bytes)
        var frame: [UInt8] = []
        frame.reserveCapacity(piece.bytes.count + 24)
        VariableNumber.append(piece.number, to: &frame)
        frame.append(piece.flags.rawValue)
        let head = frame.count
        frame += piece.flags.contains(.compressed) ? try codec.deflate(piece.bytes) : piece.bytes
        let sum = codec.checksum
        for shift: UInt32 in [24, 16, 8, 0] { frame.append(UInt8(truncatingIfNeeded: sum >> shift)) }
        return (frame, frame.count - head)
    }
}
