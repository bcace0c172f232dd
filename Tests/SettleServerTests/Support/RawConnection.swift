import Foundation
import SettlePlatform

/// A connection to a server on this machine that sends and receives raw bytes; every wait is bounded.
final class RawConnection {
    private let socket: Int32
    /// The port of the server.
    let port: Int
    private var buffer: [UInt8] = []
    /// Whether the other side ended the connection with a reset.
    private(set) var wasReset = false

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The seconds after which a wait fails. They only matter to a test that fails: an answer that needs many tasks comes after those
    /// of all other tests at each of them.
    static let waitLimit = 300

    init(port: Int, seconds: Int = waitLimit) throws {
        self.port = port
        socket = Sockets.make(AF_INET)
        var timeout = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if code != 0 { throw Failure(description: "connect: \(String(cString: strerror(errno)))") }
    }

    deinit { close(socket) }

    /// Ends the connection with a reset, like a client that crashes.
    func abort() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Half-closes the connection; answers can still be read.
    func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// What arrives until the server closes the connection, or is silent for a while: then `hasEnded` is false.
    func readWhatComes(first: Int32, then: Int32) -> (bytes: [UInt8], hasEnded: Bool) {
        while true {
            var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, buffer.isEmpty ? first : then) > 0 else { return (buffer, false) }
            guard (try? receive()) == true else { return (buffer, true) }
        }
    }

    /// Sends text; a request with the host `test` gets the administrator's credentials.
    func write(_ text: String) throws {
        let credentials = "Host: test\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\n"
        try write(Array(text.replacing("Host: test\r\n", with: credentials).utf8))
    }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { throw Failure(description: "send: \(String(cString: strerror(errno)))") }
            sent += count
        }
    }

    /// What arrives up to and including a mark.
    func read(through mark: String) throws -> String {
        let pattern = Array(mark.utf8)
        while true {
            if let range = find(pattern) {
                defer { buffer.removeFirst(range) }
                return String(decoding: buffer[..<range], as: UTF8.self)
            }
            guard try receive() else { throw Failure(description: "the connection ended before \"\(mark)\"") }
        }
    }

    /// What arrives until the server closes the connection.
    func readToEnd() throws -> [UInt8] {
        while try receive() {}
        defer { buffer = [] }
        return buffer
    }

    /// One answer that has a length, or is chunked.
    func readAnswer() throws -> (head: String, body: [UInt8]) {
        let head = try read(through: "\r\n\r\n")
        let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        if head.lowercased().contains("transfer-encoding: chunked") { return (head, try readChunks()) }
        let length = line.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        while buffer.count < length { guard try receive() else { break } }
        defer { buffer.removeFirst(min(length, buffer.count)) }
        return (head, Array(buffer.prefix(length)))
    }

    private func readChunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let count = Int(try read(through: "\r\n").dropLast(1), radix: 16) ?? 0
            while buffer.count < count + 2 { guard try receive() else { return body } }
            body += buffer.prefix(count)
            buffer.removeFirst(min(count + 2, buffer.count))
            if count == 0 { return body }
        }
    }

    private func find(_ pattern: [UInt8]) -> Int? {
        guard buffer.count >= pattern.count else { return nil }
        for start in 0...(buffer.count - pattern.count)
        where buffer[start..<start + pattern.count].elementsEqual(pattern) {
            return start + pattern.count
        }
        return nil
    }

    private func receive() throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        var count = recv(socket, &piece, piece.count, 0)
        // With a time limit, a debugger that stops this thread interrupts the call.
        while count < 0, errno == EINTR { count = recv(socket, &piece, piece.count, 0) }
        if count < 0 {
            wasReset = errno == ECONNRESET
            throw Failure(description: "recv: \(String(cString: strerror(errno)))")
        }
        buffer += piece.prefix(count)
        return count > 0
    }
}
