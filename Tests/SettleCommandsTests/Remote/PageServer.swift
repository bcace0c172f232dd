import Foundation
import SettlePlatform

/// A server on this machine that answers every request with the same page.
final class PageServer: Sendable {
    let port: Int
    private let socket: Int32

    init(_ page: String) throws {
        let socket = Sockets.make(AF_INET)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) | listen(socket, 16) | getsockname(socket, address, &size)
            }
        }
        guard code == 0 else { throw CocoaError(.fileNoSuchFile) }
        self.socket = socket
        port = Int(UInt16(bigEndian: address.sin_port))
        let answer = Array(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(page.utf8.count)\r\nConnection: close\r\n\r\n\(page)"
                .utf8)
        Thread.detachNewThread {
            while case let peer = Sockets.accept(socket), peer >= 0 {
                var request = [UInt8](repeating: 0, count: 65536)
                _ = read(peer, &request, request.count)
                _ = write(peer, answer, answer.count)
                shutdown(peer, Int32(SHUT_WR))
                _ = read(peer, &request, request.count)
                close(peer)
            }
            close(socket)
        }
    }

    // The thread closes the descriptor, when it accepts no more from it.
    deinit { shutdown(socket, Int32(SHUT_RDWR)) }
}
