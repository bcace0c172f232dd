internal import SettlePlatform

/// Assembles messages from the frames of one direction.
///
///     varint number · varint flags · body, maybe compressed · CRC-32 of all bodies so far
///
/// Requests begin in the order of their numbers, and the frames of several messages may alternate. After each
/// 50,000 bytes of a message an acknowledgement is due. A sender pauses a message without acknowledgements. So
/// while partly received messages use much memory, only one of them is acknowledged.
///
/// Used by one thread at a time.
final class BLIPDecoder {
    /// The result of a frame.
    struct Result {
        /// A completed message.
        var message: BLIPMessage?
        /// The number of bytes of a sent message that the other end has received.
        var received: (key: BLIPMessageKey, bytes: UInt64)?
        /// The acknowledgements that are due now.
        var due: [(key: BLIPMessageKey, bytes: UInt64)] = []
    }

    private struct Open {
        /// The received bytes. If the message is too long, only its beginning with the properties.
        var payload: [UInt8] = []
        var isTooLong = false
        /// The number of received frame bytes, before decompression.
        var raw = 0
        var unacknowledged = 0

        mutating func acknowledge(_ key: BLIPMessageKey) -> (key: BLIPMessageKey, bytes: UInt64) {
            unacknowledged = 0
            return (key, UInt64(raw))
        }
    }

    private static let acknowledgedEach = 50_000

    private let limits: BLIPLimits
    private let codec = BLIPCodec(isWriter: false)
    private var open: [BLIPMessageKey: Open] = [:]
    private var lastRequest: UInt64 = 0
    /// The message that is acknowledged while other messages wait.
    private var runner: BLIPMessageKey?
    /// The messages whose acknowledgements are held back, in order.
    private var held: [BLIPMessageKey] = []
    /// The size of partly received messages, in bytes.
    private(set) var bytesInMemory = 0

    init(_ limits: BLIPLimits) { self.limits = limits }

    /// Drops the partly received messages.
    func discard() { (open, bytesInMemory, runner, held) = ([:], 0, nil, []) }

    /// Reads a frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - isExpected: Returns whether the request with a number waits for its answer.
    /// - Returns: The result of the frame.
    /// - Throws: ``BLIPError`` if the other end violates the protocol or exceeds a limit; the connection is then
    ///   unusable.
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
        case .request:
            return try assemble(frame[place...], BLIPMessageKey(isReply: false, number: number), .request, flags)
        case .reply, .error:
            let key = BLIPMessageKey(isReply: true, number: number)
            guard open[key] != nil || isExpected(number) else {
                throw .broken("an answer to request \(number), which was not asked")
            }
            return try assemble(frame[place...], key, flags.kind == .reply ? .reply : .error, flags)
        case nil: throw .broken("a frame of an unknown kind")
        }
    }

    private func assemble(
        _ body: ArraySlice<UInt8>, _ key: BLIPMessageKey, _ kind: BLIPMessage.Kind, _ flags: BLIPFlags
    ) throws(BLIPError) -> Result {
        // Removed from the dictionary, so that a frame is appended without copying the earlier ones.
        let isNew = open[key] == nil
        var message = open.removeValue(forKey: key) ?? Open()
        if isNew {
            if !key.isReply {
                guard key.number == lastRequest + 1 else {
                    throw .broken("request \(key.number) begins after request \(lastRequest)")
                }
                lastRequest = key.number
            }
            guard open.count < limits.maximumOpenMessages else {
                throw .broken("more than \(limits.maximumOpenMessages) messages have begun")
            }
        }
        guard body.count >= 4 else { throw .broken("a frame has no checksum") }
        let expected = body.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var bytes = Array(body.dropLast(4))
        // Skipped frames are decompressed too, because all frames share the compression state.
        if flags.contains(.compressed) { bytes = try codec.inflate(bytes, limit: limits.largestMessage) }
        codec.add(bytes)
        guard codec.checksum == expected else { throw .broken("the checksum of a frame is wrong") }
        bytesInMemory -= message.payload.count
        try append(bytes, to: &message, key)
        guard bytesInMemory + message.payload.count <= limits.maximumIncomingBytes else {
            throw .broken("messages that have come in part have more than \(limits.maximumIncomingBytes) bytes")
        }
        message.raw += body.count
        message.unacknowledged += body.count
        var result = Result()
        if flags.contains(.moreComing) {
            bytesInMemory += message.payload.count
            if message.unacknowledged >= Self.acknowledgedEach {
                if !mustWait(key) { result.due = [message.acknowledge(key)] }
            }
            open[key] = message
        } else {
            if message.unacknowledged >= Self.acknowledgedEach { result.due = [message.acknowledge(key)] }
            result.message = try whole(message, kind, key, flags)
            result.due += release(key)
        }
        return result
    }

    /// Appends bytes to a message, unless it is too long to be kept.
    private func append(_ bytes: [UInt8], to message: inout Open, _ key: BLIPMessageKey) throws(BLIPError) {
        guard !message.isTooLong else { return }
        message.payload += bytes
        let limit = key.isReply ? limits.largestMessage : limits.largestRequest ?? limits.largestMessage
        guard message.payload.count > limit else { return }
        guard key.isReply || limits.largestRequest != nil else {
            throw .broken("a message has more than \(limit) bytes")
        }
        message.isTooLong = true
        message.payload = Array(message.payload.prefix(BLIPMessage.maximumPropertyBytes + 10))
    }

    private func whole(
        _ message: Open, _ kind: BLIPMessage.Kind, _ key: BLIPMessageKey, _ flags: BLIPFlags
    ) throws(BLIPError) -> BLIPMessage {
        var whole = try BLIPMessage(kind, number: key.number, payload: message.payload, flags: flags)
        if message.isTooLong { (whole.isTooLong, whole.body) = (true, []) }
        return whole
    }

    /// Whether a message's acknowledgement must be held back.
    private func mustWait(_ key: BLIPMessageKey) -> Bool {
        if held.contains(key) { return true }
        guard bytesInMemory > limits.maximumBytesAtOnce else { return false }
        runner = runner ?? key
        guard runner != key else { return false }
        held.append(key)
        return true
    }

    /// The held-back acknowledgements of a message that is now complete.
    private func release(_ key: BLIPMessageKey) -> [(key: BLIPMessageKey, bytes: UInt64)] {
        held.removeAll { $0 == key }
        if runner == key { runner = nil }
        guard runner == nil else { return [] }
        let isCrowded = bytesInMemory > limits.maximumBytesAtOnce
        let freed = isCrowded ? Array(held.prefix(1)) : held
        if isCrowded { runner = freed.first }
        held.removeFirst(freed.count)
        return freed.compactMap { open[$0]?.acknowledge($0) }
    }
}
