/// What ends a WebSocket: a broken rule of RFC 6455, or a limit.
package struct WebSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status with which the connection is closed: 1002 for a broken rule, 1003 for text, 1009 for too much.
    package let status: UInt16
    package let description: String

    static func broken(_ rule: String) -> WebSocketError { WebSocketError(status: 1002, description: rule) }
    static let text = WebSocketError(
        status: 1003, description: "this protocol sends binary messages, and this one is text")
    static func tooLarge(_ limit: Int) -> WebSocketError {
        WebSocketError(status: 1009, description: "a message has more than \(limit) bytes")
    }
}
