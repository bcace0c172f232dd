internal import SettleCore
internal import SettleHTTP
internal import SettlePlatform

/// The answer of an import: lines that the importing thread adds, and that the connection sends.
///
/// The thread waits while the client reads nothing, and ends the import when the client has disconnected.
final class ImportStream: ResponseStream {
    private struct State {
        /// Lines that are not sent yet.
        var lines: [UInt8] = []
        /// Whether no line follows.
        var isComplete = false
        /// Whether the importing thread is to end.
        var isCancelled = false
        var wake: (@Sendable () -> Void)?
    }

    private let life: RequestLife
    private let state = Monitor(State())
    /// So many bytes may wait before the importing thread waits too.
    private static let maximumWaiting = 256 << 10

    /// - Parameter life: Whether the client still waits for the answer.
    init(_ life: RequestLife) { self.life = life }

    func begin(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    func next() -> ResponseStep {
        state.update { state -> ResponseStep in
            if !state.lines.isEmpty {
                defer { state.lines = [] }
                return .piece(state.lines)
            }
            return state.isComplete ? .end : .wait
        }
    }

    func finish() -> Bool {
        stop(HTTPError.stopping)
        return true
    }

    func end() {
        state.update { state in
            (state.isComplete, state.isCancelled, state.wake) = (true, true, nil)
        }
    }

    /// Ends the import between two batches, with an error as the last line.
    func stop(_ error: HTTPError) {
        finish(with: ["error": .string(error.error), "reason": .string(error.reason)])
        state.update { $0.isCancelled = true }
    }

    // MARK: The importing thread

    /// Adds a line, once there is room for it; drops it if nobody waits for it any more.
    func add(_ line: JSONValue) {
        while !isOver {
            let hasRoom: Bool? = state.wait(seconds: 1) { state -> Bool? in
                state.isComplete || state.lines.count < Self.maximumWaiting ? true : nil
            }
            if hasRoom == true { return append(line, isLast: false) }
        }
    }

    /// Adds the last line, unless there is one.
    func finish(with line: JSONValue) { append(line, isLast: true) }

    /// - Throws: `CancellationError` if the client is gone or the server stops.
    func check() throws { if isOver { throw CancellationError() } }

    private var isOver: Bool { life.isAbandoned || state.withLock(\.isCancelled) }

    private func append(_ line: JSONValue, isLast: Bool) {
        let bytes = line.utf8 + [UInt8(ascii: "\n")]
        let wake = state.update { state -> (@Sendable () -> Void)? in
            guard !state.isComplete else { return nil }
            state.lines += bytes
            if isLast { state.isComplete = true }
            return state.wake
        }
        wake?()
    }
}

// MARK: - ImportPace

/// Adds lines about the progress of an import, two a second at most.
struct ImportPace {
    private let stream: ImportStream
    private var next = ContinuousClock.now + .milliseconds(500)

    init(_ stream: ImportStream) { self.stream = stream }

    /// Reports how far the import is, if it is time to.
    ///
    /// - Throws: `CancellationError` if the import is to end.
    mutating func report(imported: Int, failed: Int, fraction: Double?) throws {
        try stream.check()
        let now = ContinuousClock.now
        guard now >= next else { return }
        next = now + .milliseconds(500)
        var progress: JSONValue = [
            "imported": .number(JSONNumber(imported)), "failed": .number(JSONNumber(failed)),
        ]
        if let fraction, let number = JSONNumber((min(fraction, 1) * 1000).rounded() / 1000) {
            progress["fraction"] = .number(number)
        }
        stream.add(["progress": progress])
    }
}
