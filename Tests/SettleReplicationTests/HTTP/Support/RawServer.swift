import Foundation
import SettleDatabase
import SettlePlatform

/// A raw TCP server on a free port of this machine: each connection runs a script on a thread until the object is
/// released.
final class RawServer: Sendable {
    typealias Script = @Sendable (RawPeer) throws -> Void

    private struct State {
        var accepted = 0
        var peers: [RawPeer] = []
        var isClosed = false
    }

    let port: Int
    private let socket: Int32
    private let state = Guarded(State())

    init(_ script: @escaping Script) throws {
        let socket = try RawPeer.makeSocket()
        var address = RawPeer.address(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) | listen(socket, 128) | getsockname(socket, address, &size)
            }
        }
        guard code == 0 else { throw RawPeer.Failure("listen") }
        self.socket = socket
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let accepted = Sockets.accept(socket)
                guard accepted >= 0 else { break }
                let peer = RawPeer(socket: accepted)
                guard self?.add(peer) == true else { break }
                Thread.detachNewThread {
                    try? script(peer)
                    peer.close()
                }
            }
            close(socket)
        }
    }

    deinit { stop() }

    /// Closes all connections, and accepts no more.
    func stop() {
        let peers = state.withLock { state -> [RawPeer]? in
            defer { state.isClosed = true }
            return state.isClosed ? nil : state.peers
        }
        // On a second call the descriptor may be another socket's.
        guard let peers else { return }
        shutdown(socket, Int32(SHUT_RDWR))
        for peer in peers { peer.shut() }
    }

    /// How many connections were made.
    var accepted: Int { state.withLock { $0.accepted } }

    var url: String { "http://127.0.0.1:\(port)" }

    private func add(_ peer: RawPeer) -> Bool {
        state.withLock { state in
            state.accepted += 1
            state.peers.append(peer)
            return !state.isClosed
        }
    }
}

extension RawServer {
    /// A server that closes each connection once a request has arrived.
    static func closing() throws -> RawServer { try RawServer { _ = try $0.readRequest() } }
}
