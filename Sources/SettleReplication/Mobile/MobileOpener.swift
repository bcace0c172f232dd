internal import SettleCore
package import SettleMobile
internal import SettlePlatform

/// Connects the client's end of a connection to a server of Couchbase Mobile's protocol.
package struct MobileOpener: Sendable {
    /// Makes the client's end, which calls the closure when it has something to send.
    package typealias Maker = (_ wake: @escaping @Sendable () -> Void) -> BLIPConnection

    /// Connects.
    package let open: @Sendable (TransportRequest, TransportOptions, Maker) async throws -> BLIPConnection

    package init(_ open: @escaping @Sendable (TransportRequest, TransportOptions, Maker) async throws -> BLIPConnection)
    {
        self.open = open
    }

    /// By a WebSocket.
    package static let socket = MobileOpener { request, options, make in
        guard let bell = SocketBell() else { throw TransportError(.failed, "the system has no sockets left") }
        let connection = make(bell.ring)
        try await WebSocketClient.open(request, options, connection, bell)
        return connection
    }
}
