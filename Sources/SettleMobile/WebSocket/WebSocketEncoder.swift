internal import SettlePlatform

/// Writes the frames of a WebSocket (RFC 6455, section 5), each message as one frame.
package struct WebSocketEncoder: Sendable {
    private let isClient: Bool

    /// - Parameter isClient: Whether frames go to a server, which wants them masked.
    package init(isClient: Bool) { self.isClient = isClient }

    package func message(_ payload: [UInt8]) -> [UInt8] { frame(2, payload) }
    package func ping() -> [UInt8] { frame(9, []) }
    package func pong(_ payload: [UInt8]) -> [UInt8] { frame(10, payload) }

    /// A closing frame with a status and a reason; without both if `status` is `nil`. The reason is cut off where the frame
    /// has no room for more.
    package func close(_ status: UInt16?, reason: String = "") -> [UInt8] {
        guard let status else { return frame(8, []) }
        var text = reason
        while text.utf8.count > Self.longestReason { text.removeLast() }
        return frame(8, [UInt8(status >> 8), UInt8(truncatingIfNeeded: status)] + text.utf8)
    }

    /// The bytes of a control frame, without those of the status.
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
        // Anybody may know the mask; it only keeps what is sent from being what a page chose.
        let mask = SecureRandom.bytes(4)
        var masked = payload
        WebSocketDecoder.unmask(&masked, mask[0], mask[1], mask[2], mask[3])
        return bytes + mask + masked
    }
}
