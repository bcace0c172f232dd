internal import SettlePlatform

/// Parses the frames of a WebSocket (RFC 6455, section 5) from pieces of any size.
///
///     byte 0   FIN, three reserved bits, opcode (4 bits)
///     byte 1   MASK, length (7 bits; 126: two more bytes have it, 127: eight more)
///     4 bytes  the mask, of frames from a client
///     payload  each byte xor the mask
///
/// Control frames may come between the fragments of a message. No extension is supported, so a reserved bit ends
/// the connection.
package struct WebSocketDecoder: Sendable {
    private let isServer: Bool
    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0
    /// The fragments of a message that is not complete yet.
    private var message: [UInt8]?

    /// - Parameters:
    ///   - isServer: Whether frames come from a client, which masks them. A server's frames have no mask.
    ///   - limit: The maximum size of a message in bytes.
    package init(isServer: Bool, limit: Int) {
        self.isServer = isServer
        self.limit = limit
    }

    /// The number of bytes that wait for the rest of their frame or message.
    package var bytesInMemory: Int { buffer.count - start + (message?.count ?? 0) }

    /// Drops a partly received message.
    package mutating func discard() { (buffer, start, message) = ([], 0, nil) }

    /// Appends received bytes.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next event; `nil` until more bytes arrive.
    ///
    /// - Throws: ``WebSocketError``; the connection is then unusable.
    package mutating func next() throws(WebSocketError) -> WebSocketEvent? {
        while let frame = try frame() {
            switch frame.opcode {
            case 0:
                guard var whole = message else { throw .broken("a continuation without a message") }
                message = nil
                guard whole.count + frame.payload.count <= limit else { throw .tooLarge(limit) }
                whole += frame.payload
                if frame.isLast { return .message(whole) }
                message = whole
            case 1: throw .text
            case 2:
                guard message == nil else { throw .broken("a message within another one") }
                if frame.isLast { return .message(frame.payload) }
                message = frame.payload
            case 8:
                guard frame.payload.count != 1 else { throw .broken("a status of one byte") }
                return .close(
                    status: frame.payload.count < 2 ? nil : UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1]))
            case 9: return .ping(frame.payload)
            case 10: return .pong
            default: throw .broken("an unknown opcode, \(frame.opcode)")
            }
        }
        return nil
    }

    private struct Frame {
        let opcode: UInt8
        let isLast: Bool
        let payload: [UInt8]
    }

    private mutating func frame() throws(WebSocketError) -> Frame? {
        let bytes = buffer[start...]
        guard bytes.count >= 2 else { return nil }
        let (first, second) = (bytes[start], bytes[start + 1])
        guard first & 0x70 == 0 else { throw .broken("a reserved bit is set") }
        let opcode = first & 0x0F
        let isLast = first & 0x80 != 0
        guard (second & 0x80 != 0) == isServer else {
            throw .broken(isServer ? "a client's frame has no mask" : "a server's frame has a mask")
        }
        var (length, place) = (UInt64(second & 0x7F), start + 2)
        if opcode >= 8 {
            guard isLast, length < 126 else { throw .broken("a control frame is long, or in parts") }
        }
        if length >= 126 {
            let count = length == 126 ? 2 : 8
            guard bytes.count >= 2 + count else { return nil }
            length = bytes[place..<place + count].reduce(0) { $0 << 8 | UInt64($1) }
            place += count
            guard length >= (count == 2 ? 126 : 65536), length >> 63 == 0 else {
                throw .broken("a length in more bytes than it needs")
            }
        }
        guard length <= UInt64(limit) else { throw .tooLarge(limit) }
        let mask = place
        if isServer { place += 4 }
        let end = place + Int(length)
        guard buffer.count >= end else { return nil }
        var payload = Array(buffer[place..<end])
        if isServer { Self.unmask(&payload, buffer[mask], buffer[mask + 1], buffer[mask + 2], buffer[mask + 3]) }
        start = end
        return Frame(opcode: opcode, isLast: isLast, payload: payload)
    }

    /// Removes the mask from a payload, eight bytes at a time.
    static func unmask(_ payload: inout [UInt8], _ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) {
        let half = UInt64(a) | UInt64(b) << 8 | UInt64(c) << 16 | UInt64(d) << 24
        let whole = (half | half << 32).littleEndian
        payload.withUnsafeMutableBytes { bytes in
            let words = bytes.count / 8
            for word in 0..<words {
                let value = bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
                bytes.storeBytes(of: value ^ whole, toByteOffset: word * 8, as: UInt64.self)
            }
            for index in words * 8..<bytes.count { bytes[index] ^= [a, b, c, d][index & 3] }
        }
    }
}

// MARK: - WebSocketEncoder

/// Writes the frames of a WebSocket (RFC 6455, section 5), each message as one frame.
package struct WebSocketEncoder: Sendable {
    private let isClient: Bool

    /// - Parameter isClient: Whether frames go to a server, which requires a mask.
    package init(isClient: Bool) { self.isClient = isClient }

    package func message(_ payload: [UInt8]) -> [UInt8] { frame(2, payload) }
    package func ping() -> [UInt8] { frame(9, []) }
    package func pong(_ payload: [UInt8]) -> [UInt8] { frame(10, payload) }

    /// A closing frame with a status and a reason; without both if `status` is `nil`. The reason is truncated to
    /// the room in the frame.
    package func close(_ status: UInt16?, reason: String = "") -> [UInt8] {
        guard let status else { return frame(8, []) }
        var text = reason
        while text.utf8.count > Self.longestReason { text.removeLast() }
        return frame(8, [UInt8(status >> 8), UInt8(truncatingIfNeeded: status)] + text.utf8)
    }

    /// The maximum length of a control frame's reason, in bytes.
    private static let longestReason = 123

    private func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x80 | opcode]
        bytes.reserveCapacity(payload.count + 14)
        let mark: UInt8 = isClient ? 0x80 : 0
        switch payload.count {
        case ..<126: bytes.append(mark | UInt8(payload.count))
        case ..<65536: bytes += [mark | 126, UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
        default:
            bytes.append(mark | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        guard isClient else { return bytes + payload }
        // The mask need not be secret: it only keeps a web page from choosing the bytes on the wire.
        let mask = SecureRandom.bytes(4)
        var masked = payload
        WebSocketDecoder.unmask(&masked, mask[0], mask[1], mask[2], mask[3])
        return bytes + mask + masked
    }
}

// MARK: - WebSocketEvent

/// An event of a WebSocket.
package enum WebSocketEvent: Hashable, Sendable {
    /// A whole binary message.
    case message([UInt8])
    /// A ping, which is answered by a pong with the same bytes.
    case ping([UInt8])
    case pong
    /// The other end closes the connection, optionally with a status. The answer is the same.
    case close(status: UInt16?)
}

// MARK: - WebSocketError

/// An error that ends a WebSocket: a violation of RFC 6455, or an exceeded limit.
package struct WebSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status with which the connection is closed: 1002 for a violation, 1003 for text, 1009 for too much data.
    package let status: UInt16
    package let description: String

    static func broken(_ rule: String) -> WebSocketError { WebSocketError(status: 1002, description: rule) }
    static let text = WebSocketError(
        status: 1003, description: "this protocol sends binary messages, and this one is text")
    static func tooLarge(_ limit: Int) -> WebSocketError {
        WebSocketError(status: 1009, description: "a message has more than \(limit) bytes")
    }
}
