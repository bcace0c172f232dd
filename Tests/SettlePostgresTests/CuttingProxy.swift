import Foundation
import Glibc
import SettlePlatform

/// A proxy before PostgreSQL that can break a connection around a commit, and counts round trips.
///
/// It reads the answers of the server, message by message. `afterCommit` drops the answer to a commit, which PostgreSQL has done
/// then. `beforeCommit` breaks the connection when the row of the database is locked.
final class CuttingProxy: Sendable {
    enum Cut: Sendable { case afterCommit, beforeCommit }

    private struct State {
        var wanted: Cut?
        var cuts = 0
        var roundTrips = 0
        var sockets: [Int32] = []
        var isListening = true
    }

    let port: Int
    private let listener: Int32
    private let target: Int
    private let state = Guarded(State())

    init(to target: Int) throws {
        self.target = target
        (listener, port) = try Self.listen()
        Thread.detachNewThread { [self] in accept() }
    }

    private static func listen() throws -> (socket: Int32, port: Int) {
        let listener = Sockets.make(AF_INET)
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && Glibc.listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isOpen else { throw CocoaError(.fileReadUnknown) }
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    func cutNext(_ cut: Cut) { state.withLock { $0.wanted = cut } }

    var cuts: Int { state.withLock { $0.cuts } }

    /// How often the server has said that it is ready for more.
    var roundTrips: Int { state.withLock { $0.roundTrips } }

    /// Takes no more connections; those that are open stay.
    func refuse() {
        // The thread that accepts closes the descriptor. If it were closed here, the next proxy's listener could get the same number, and
        // that thread would take its connections.
        state.withLock { state in
            if state.isListening { shutdown(listener, Int32(SHUT_RDWR)) }
        }
    }

    func stop() {
        refuse()
        for socket in state.withLock({ $0.sockets }) { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func accept() {
        defer {
            state.withLock { state in
                state.isListening = false
                close(listener)
            }
        }
        while true {
            let client = Sockets.accept(listener)
            guard client >= 0 else { return }
            let server = Sockets.make(AF_INET)
            var address = Self.address(target)
            let isOpen = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard isOpen == 0 else { return }
            state.withLock { $0.sockets += [client, server] }
            Thread.detachNewThread { [self] in forward(client, server) }
            Thread.detachNewThread { [self] in answer(server, client) }
        }
    }

    private func forward(_ from: Int32, _ to: Int32) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(from, &bytes, bytes.count, 0), count > 0 {
            guard send(to, bytes, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        end(from, to)
    }

    /// Passes on the server's messages: a letter, a length, and the rest.
    private func answer(_ from: Int32, _ to: Int32) {
        var buffer: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(from, &bytes, bytes.count, 0), count > 0 {
            buffer += bytes[..<count]
            // The first answer may be the single letter that refuses encryption.
            if buffer.count == 1 {
                guard send(to, buffer, 1, Int32(MSG_NOSIGNAL)) == 1 else { break }
                buffer = []
                continue
            }
            var start = 0
            while buffer.count - start >= 5 {
                let length = buffer[(start + 1)...(start + 4)].reduce(0) { $0 << 8 | Int($1) }
                guard buffer.count - start >= length + 1 else { break }
                let message = Array(buffer[start...(start + length)])
                if isCut(message) { return end(from, to) }
                guard send(to, message, message.count, Int32(MSG_NOSIGNAL)) == message.count else {
                    return end(from, to)
                }
                start += length + 1
            }
            buffer.removeFirst(start)
        }
        end(from, to)
    }

    private func isCut(_ message: [UInt8]) -> Bool {
        if message[0] == UInt8(ascii: "Z") { state.withLock { $0.roundTrips += 1 } }
        guard message[0] == UInt8(ascii: "C") else { return false }
        let tag = String(decoding: message[5...].prefix { $0 != 0 }, as: UTF8.self)
        return state.withLock { state in
            switch (state.wanted, tag) {
            case (.afterCommit?, "COMMIT"), (.beforeCommit?, "BEGIN"):
                state.wanted = nil
                state.cuts += 1
                return true
            default: return false
            }
        }
    }

    private func end(_ first: Int32, _ second: Int32) {
        shutdown(first, Int32(SHUT_RDWR))
        shutdown(second, Int32(SHUT_RDWR))
    }
}
