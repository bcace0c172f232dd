internal import SettlePlatform

/// Puts messages together from the frames of one direction.
///
///     varint number · varint flags · body, maybe compressed · CRC-32 of all bodies so far
///
/// Requests begin in the order of their numbers, and frames of several messages may alternate. After each 50,000 bytes of a
/// message an acknowledgement is due.
///
/// Used by one thread at a time.
final class BLIPDecoder {
    /// What a frame leads to.
    struct Result {
        /// A message that is whole.
        var message: BLIPMessage?
        /// What the other end has received of a message from here.
        var received: (key: BLIPMessageKey, bytes: UInt64)?
        /// The acknowledgement that is due now.
        var due: (key: BLIPMessageKey, bytes: UInt64)?
    }

    private struct Open {
        var payload: [UInt8] = []
        /// How many bytes of frames have come, as they came.
        var raw = 0
        var unacknowledged = 0
    }

    private static let acknowledgedEach = 50_000

    private let limits: BLIPLimits
    private let codec = BLIPCodec(isWriter: false)
    private var open: [BLIPMessageKey: Open] = [:]
    private var lastRequest: UInt64 = 0
    /// The bytes of messages that are not whole.
    private(set) var bytesInMemory = 0

    init(_ limits: BLIPLimits) { self.limits = limits }

    /// Drops the messages that were received in part.
    func discard() { (open, bytesInMemory) = ([:], 0) }

    /// Reads a frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - isExpected: Whether a request with a number waits for its answer.
    /// - Returns: What the frame leads to.
    /// - Throws: ``BLIPError`` if the other end breaks the protocol or passes a limit; the connection is of no use then.
    func read(_ frame: [UInt8], isExpected: (UInt64) -> Bool) throws(BLIPError) -> Result {
        var place = 0
        let head = frame.withUnsafeBytes { bytes -> (number: UInt64, flags: UInt64)? in
            guard let number = VariableNumber.read(bytes, &place) else { return nil }
            return VariableNumber.read(bytes, &place).map { (number, $0) }
        }
        guard let head, let raw = UInt8(exactly: head.flags) else { throw .broken("a frame has no head") }
        let flags = BLIPFlags(rawValue: raw)
        let number = head.number
        switch flags.kind {
        case .requestReceived, .replyReceived:
            let bytes = frame.withUnsafeBytes { VariableNumber.read($0, &place) }
            guard let bytes else { throw .broken("an acknowledgement has no number") }
            let key = BLIPMessageKey(isReply: flags.kind == .replyReceived, number: number)
            return Result(received: (key, bytes))
        case .request: return try take(frame[place...], BLIPMessageKey(isReply: false, number: number), .request, flags)
        case .reply, .error:
            let key = BLIPMessageKey(isReply: true, number: number)
            guard open[key] != nil || isExpected(number) else {
                throw .broken("an answer to request \(number), which was not asked")
            }
            return try take(frame[place...], key, flags.kind == .reply ? .reply : .error, flags)
        case nil: throw .broken("a frame of an unknown kind")
        }
    }

    private func take(
        _ body: ArraySlice<UInt8>, _ key: BLIPMessageKey, _ kind: BLIPMessage.Kind, _ flags: BLIPFlags
    ) throws(BLIPError) -> Result {
        // Taken out of the dictionary, so that a frame is appended without copying those before it.
        let known = open.removeValue(forKey: key)
        var message = known ?? Open()
        if known == nil {
            if !key.isReply {
                guard key.number == lastRequest + 1 else {
                    throw .broken("request \(key.number) begins after request \(lastRequest)")
                }
                lastRequest = key.number
            }
            guard open.count < limits.mostOpen else {
                throw .broken("more than \(limits.mostOpen) messages have begun")
            }
        }
        guard body.count >= 4 else { throw .broken("a frame has no checksum") }
        let expected = body.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var bytes = Array(body.dropLast(4))
        let room = min(limits.largestMessage - message.payload.count, limits.mostIncoming - bytesInMemory)
        if flags.contains(.compressed) { bytes = try codec.inflate(bytes, limit: room) }
        guard bytes.count <= room else { throw .broken("messages have more than \(limits.largestMessage) bytes") }
        codec.add(bytes)
        guard codec.checksum == expected else { throw .broken("the checksum of a frame is wrong") }
        message.payload += bytes
        message.raw += body.count
        message.unacknowledged += body.count
        var result = Result()
        if message.unacknowledged >= Self.acknowledgedEach {
            message.unacknowledged = 0
            result.due = (key, UInt64(message.raw))
        }
        guard flags.contains(.moreComing) else {
            bytesInMemory -= message.payload.count - bytes.count
            result.message = try BLIPMessage(kind, number: key.number, payload: message.payload, flags: flags)
            return result
        }
        bytesInMemory += bytes.count
        open[key] = message
        return result
    }
}
