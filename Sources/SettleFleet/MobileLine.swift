internal import SettleCore
internal import SettleMobile
internal import SettlePlatform

/// A connection of a device to the server. Both ends are real; bytes move when the device sends a request or an
/// answer.
final class MobileLine {
    private let device: BLIPConnection
    private let server: BLIPConnection
    private let received: Guarded<[BLIPMessage]>
    private let fault: PlantedFault.Line?
    /// The status with which the server has closed the connection.
    private(set) var status: Int?

    /// - Parameters:
    ///   - server: The server's end.
    ///   - fault: The fault that changes the server's messages.
    init(_ server: BLIPConnection, _ fault: PlantedFault.Line? = nil) {
        (self.server, self.fault) = (server, fault)
        let received = Guarded<[BLIPMessage]>([])
        self.received = received
        device = BLIPConnection(
            isServer: false, limits: BLIPLimits(), handler: { message in received.withLock { $0.append(message) } })
    }

    var isOpen: Bool { status == nil }

    /// Sends a request, and returns the answer. Meanwhile `content` answers the server's requests for contents.
    ///
    /// - Throws: ``BLIPError`` from the server, or ``BLIPError/closed``.
    func ask(_ message: BLIPMessage, _ content: ((BLIPMessage) -> BLIPMessage)? = nil) throws -> BLIPMessage {
        let taken = Guarded<Result<BLIPMessage, BLIPError>?>(nil)
        fault?.note(message)
        device.send(message) { answer in taken.withLock { $0 = answer } }
        while true {
            try pump()
            if let answer = taken.withLock(\.self) {
                return try fault?.falsify(answer.get(), to: message) ?? answer.get()
            }
            guard isOpen else { throw BLIPError.closed }
            let question = received.withLock { received in
                received.firstIndex { $0.profile == "getAttachment" }.map { received.remove(at: $0) }
            }
            guard let content, let question else {
                throw BLIPError("fleet", 1, "the server does not answer \(message.profile)")
            }
            device.respond(to: question, with: content(question))
        }
    }

    /// The checkpoint of a client; `nil` if it has none.
    func checkpoint(of client: String) throws -> BLIPMessage? {
        do { return try ask(BLIPMessage(properties: ["Profile": "getCheckpoint", "client": client])) } catch let error
            as BLIPError where error.code == 404
        { return nil }
    }

    /// The next request of the server; `nil` if it has sent nothing more.
    func next() -> BLIPMessage? {
        try? pump()
        if let made = try? fault?.request() { return made }
        let message = received.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let message, let fault else { return message }
        if fault.expectsNoAnswer(to: message) { device.respond(to: message, with: BLIPMessage(.reply)) }
        return fault.falsify(request: message)
    }

    /// Answers a request of the server.
    func respond(to request: BLIPMessage, with answer: BLIPMessage) {
        if let status = fault?.status(after: answer, to: request) { server.close(status) }
        if fault?.expectsNoAnswer(to: request) != true { device.respond(to: request, with: answer) }
    }

    /// Ends the connection.
    func end() {
        device.end()
        server.end()
    }

    private func pump() throws {
        var moves = true
        while moves {
            moves = false
            while let bytes = try device.nextOutput() {
                moves = true
                // A socket closes with this status when the client violates the protocol or exceeds a limit.
                do { try bytes.withUnsafeBytes(server.receive) } catch { server.close(1002) }
            }
            while let bytes = try server.nextOutput() {
                moves = true
                if bytes.count >= 4, bytes[0] == 0x88 { status = Int(bytes[2]) << 8 | Int(bytes[3]) }
                try bytes.withUnsafeBytes(device.receive)
            }
        }
    }
}
