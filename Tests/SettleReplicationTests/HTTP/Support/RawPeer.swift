import Foundation
import SettleDatabase
import SettlePlatform

/// One connection as bytes. It blocks, so it is used on its own threads.
final class RawPeer: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
    }

    private struct State {
        var buffer: [UInt8] = []
        var isClosed = false
    }

    private let socket: Int32
    private let state = Guarded(State())

    init(socket: Int32) { self.socket = socket }

    /// Connects to a port of this machine.
    static func connected(to port: Int) throws -> RawPeer {
        let socket = try makeSocket()
        var address = address(port: port)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure("connect") }
        return RawPeer(socket: socket)
    }

    deinit { close() }

    /// Closes the connection, also for a process that is just being started and has a copy of the descriptor.
    func close() {
        shut()
        closeDescriptor()
    }

    private func closeDescriptor() {
        state.withLock { state in
            if !state.isClosed { _ = systemClose(socket) }
            state.isClosed = true
        }
    }

    /// Ends the connection for readers and writers.
    func shut() { state.withLock { if !$0.isClosed { shutdown(socket, Int32(SHUT_RDWR)) } } }

    /// Closes the connection with a reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        closeDescriptor()
    }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { throw Failure("send") }
            sent += count
        }
    }

    /// Writes without waiting; returns how many bytes were taken, 0 if there is no room within the time.
    func writeSome(_ bytes: [UInt8], milliseconds: Int32) throws -> Int {
        var wanted = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        guard poll(&wanted, 1, milliseconds) > 0 else { return 0 }
        let count = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        if count < 0 { throw Failure("send") }
        return count
    }

    /// Reads up to and including a mark; `nil` if the connection ends first.
    func read(through mark: String) throws -> String? {
        let pattern = Array(mark.utf8)
        while true {
            let found = state.withLock { state -> String? in
                guard let range = state.buffer.firstRange(of: pattern) else { return nil }
                defer { state.buffer.removeFirst(range.upperBound) }
                return String(decoding: state.buffer[..<range.upperBound], as: UTF8.self)
            }
            if let found { return found }
            guard try receive() else { return nil }
        }
    }

    /// The bytes that have arrived, or arrive next; `nil` at the end.
    func readSome() throws -> [UInt8]? {
        if state.withLock({ $0.buffer.isEmpty }) { guard try receive() else { return nil } }
        return state.withLock { state in
            defer { state.buffer = [] }
            return state.buffer
        }
    }

    func read(count: Int) throws -> [UInt8] {
        while state.withLock({ $0.buffer.count }) < count { guard try receive() else { break } }
        return state.withLock { state in
            defer { state.buffer.removeFirst(min(count, state.buffer.count)) }
            return Array(state.buffer.prefix(count))
        }
    }

    /// Waits until the other end closes the connection.
    func readToEnd() throws -> [UInt8] {
        while try receive() {}
        return state.withLock { $0.buffer }
    }

    /// A request with its body; `nil` if there are no more.
    func readRequest() throws -> (head: String, body: [UInt8])? {
        guard let head = try read(through: "\r\n\r\n") else { return nil }
        if head.lowercased().contains("transfer-encoding: chunked") { return (head, try readChunks()) }
        let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        let length = line.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        return (head, try read(count: length))
    }

    private func readChunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while let line = try read(through: "\r\n"), let count = Int(line.dropLast(1), radix: 16) {
            body += try read(count: count + 2).dropLast(2)
            if count == 0 { break }
        }
        return body
    }

    private func receive() throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(socket, &piece, piece.count, 0)
        if count < 0 { throw Failure("recv") }
        state.withLock { $0.buffer += piece.prefix(count) }
        return count > 0
    }

    static func makeSocket() throws -> Int32 {
        let socket = Sockets.make(AF_INET)
        if socket < 0 { throw Failure("socket") }
        return socket
    }

    static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}

private func systemClose(_ socket: Int32) -> Int32 { close(socket) }
