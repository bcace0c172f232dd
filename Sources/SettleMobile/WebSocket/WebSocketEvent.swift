/// What arrives over a WebSocket.
package enum WebSocketEvent: Hashable, Sendable {
    /// A whole binary message.
    case message([UInt8])
    /// A ping, which is answered by a pong with the same bytes.
    case ping([UInt8])
    case pong
    /// The other end closes, with a status if it says one; it is answered by the same.
    case close(status: UInt16?)
}
