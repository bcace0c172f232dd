#if SETTLE_APPLE && canImport(FoundationNetworking)
internal import Foundation
internal import FoundationNetworking
internal import SettlePlatform

/// A replacement for `URLSession`'s stream task, which Foundation on Linux lacks. It uses a plain socket, and
/// serves only to test the code around it.
final class URLSessionStreamTask: Sendable {
    private let host: String
    private let port: Int
    private let queue = DispatchQueue(label: "stream task")
    private let socket = Guarded<Int32?>(nil)

    fileprivate init(_ host: String, _ port: Int) { (self.host, self.port) = (host, port) }

    deinit { if let socket = socket.withLock({ $0 }) { Sockets.close(socket) } }

    func resume() {
        queue.async { [self] in
            var hints = addrinfo()
            hints.ai_socktype = Sockets.stream
            var found: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found?.pointee else { return }
            defer { freeaddrinfo(found) }
            let made = Sockets.make(address.ai_family)
            guard made >= 0 else { return }
            guard let place = address.ai_addr, Sockets.connect(made, to: place, address.ai_addrlen) == 0 else {
                return Sockets.close(made)
            }
            socket.withLock { $0 = made }
        }
    }

    func startSecureConnection() {}

    func cancel() { if let socket = socket.withLock({ $0 }) { shutdown(socket, Int32(SHUT_RDWR)) } }

    func write(_ data: Data, timeout _: TimeInterval) async throws {
        try await onThread { socket in
            var rest = Array(data)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Sockets.send(socket, $0) }
                guard count > 0 else { throw URLError(.networkConnectionLost) }
                rest = rest.dropFirst(count)
            }
        }
    }

    func readData(ofMinLength _: Int, maxLength: Int, timeout: TimeInterval) async throws -> (Data?, Bool) {
        try await onThread { socket in
            var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, timeout > 0 ? Int32(timeout * 1000) : -1) > 0 else { throw URLError(.timedOut) }
            var room = [UInt8](repeating: 0, count: maxLength)
            let count = read(socket, &room, maxLength)
            guard count >= 0 else { throw URLError(.networkConnectionLost) }
            return (Data(room[..<count]), count == 0)
        }
    }

    private func onThread<Value: Sendable>(_ work: @escaping @Sendable (Int32) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            // After the connect of `resume`, and concurrently with another call.
            queue.async { [self] in
                guard let socket = socket.withLock({ $0 }) else {
                    return continuation.resume(throwing: URLError(.cannotConnectToHost))
                }
                do {
                    try SystemThread.detach { [self] in
                        withExtendedLifetime(self) { continuation.resume(with: Result { try work(socket) }) }
                    }
                } catch { continuation.resume(throwing: error) }
            }
        }
    }
}

extension URLSession {
    func streamTask(withHostName host: String, port: Int) -> URLSessionStreamTask { URLSessionStreamTask(host, port) }
}
#endif
