import Glibc

/// A connection with the server, made when it is needed and kept alive, that carries one request at a time.
@Loop
final class Connection {
    /// Where in a request a device loses its connection.
    enum Cut: CaseIterable {
        case whileSending
        case beforeAnswer
        case inAnswer
    }

    /// Why there is no answer.
    enum Loss: Error {
        /// The device's own fault, on purpose.
        case cut
        /// The server closed the connection, or could not be reached.
        case lost
    }

    private let server: Server
    private var socket: Int32 = -1
    private var output: [UInt8] = []
    private var sent = 0
    private var reader = AnswerReader()
    private var cut: Cut?
    private var waiting: UnsafeContinuation<Answer, any Error>?
    /// How many signals of life waiting long-polls have got in all.
    private(set) static var signals = 0
    private static let pieceLength = 1 << 16
    private static var buffer = [UInt8](repeating: 0, count: pieceLength)

    init(_ server: Server) { self.server = server }

    /// Sends a request, and waits for the answer.
    ///
    /// - Throws: ``Loss`` when there is none, or `AnswerReader.Malformed`; then the connection is closed.
    func exchange(_ request: [UInt8], cut: Cut? = nil) async throws -> Answer {
        if socket < 0 { try open() }
        (output, sent, self.cut) = (request, 0, cut)
        reader = AnswerReader()
        return try await withUnsafeThrowingContinuation {
            waiting = $0
            advance()
        }
    }

    /// Closes the connection, and ends the request that waits for an answer.
    func cancel() {
        close()
        finish { $0.resume(throwing: Loss.cut) }
    }

    func close() {
        guard socket >= 0 else { return }
        Poller.shared.remove(socket: socket)
        socket = -1
    }

    /// Goes on as far as the socket lets it.
    func advance() {
        do {
            try send()
            guard let answer = try receive() else { return }
            if answer.isLast { close() }
            finish { $0.resume(returning: answer) }
        } catch {
            close()
            finish { $0.resume(throwing: error) }
        }
    }

    private func finish(_ resume: (UnsafeContinuation<Answer, any Error>) -> Void) {
        guard let waiter = waiting else { return }
        waiting = nil
        resume(waiter)
    }

    private func open() throws {
        socket = server.connect()
        guard socket >= 0 else { throw Loss.lost }
        Poller.shared.add(self, socket: socket)
    }

    private func send() throws {
        let end = cut == .whileSending ? output.count / 2 : output.count
        while sent < end {
            let count = output[sent..<end].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { throw Loss.lost }
            sent += count
        }
        if waiting != nil, cut == .whileSending || cut == .beforeAnswer { throw Loss.cut }
    }

    private func receive() throws -> Answer? {
        while socket >= 0, sent == output.count {
            let count = recv(socket, &Self.buffer, Self.pieceLength, 0)
            if count < 0, errno == EAGAIN { return nil }
            guard count > 0, waiting != nil else { throw Loss.lost }
            if cut == .inAnswer { throw Loss.cut }
            if let answer = try reader.take(Self.buffer[..<count]) { return answer }
            // A chunk with a line's end.
            if count == 6 { Self.signals += 1 }
        }
        return nil
    }
}
