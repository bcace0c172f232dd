internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Sends the answers to one or more queries of a view.
///
/// A thread for requests that wait for scripts makes the next piece; in between no thread is held. The first piece
/// is made before the answer begins, so that its errors can still be reported.
final class ViewStream: ResponseStream {
    private struct State {
        var answers: ArraySlice<ViewAnswer>
        /// The piece that is ready to be sent.
        var piece: WireText?
        var outbox = TextOutbox()
        var failure: (any Error)?
        var isWorking = false
        var isFirst = true
        var isAtEnd = false
        var hasEnded = false
        var wake: (@Sendable () -> Void)?
    }

    private let database: Database
    private let isMany: Bool
    private let threads: WorkerPool
    private let owner: String
    private let state: Guarded<State>

    /// - Parameters:
    ///   - answers: The answers.
    ///   - database: The database of the answers.
    ///   - isMany: Whether to send the answers as an array under `results`.
    ///   - threads: The threads that make the pieces.
    ///   - owner: The owner of the jobs on these threads.
    /// - Throws: Errors of the first piece.
    init(
        _ answers: [ViewAnswer], of database: Database, isMany: Bool, threads: WorkerPool, owner: String
    ) throws {
        self.database = database
        self.isMany = isMany
        self.threads = threads
        self.owner = owner
        var state = State(answers: answers[...])
        state.piece = try Self.make(&state, isMany)
        self.state = Guarded(state)
    }

    func begin(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    func next() throws -> ResponseStep {
        let (step, needsWork) = try state.withLock { state -> (ResponseStep, Bool) in
            if let failure = state.failure { throw failure }
            if let piece = try state.outbox.read() { return (.piece(piece), false) }
            if state.hasEnded { return (.end, false) }
            if let piece = state.piece {
                state.piece = nil
                if state.isAtEnd { state.hasEnded = true }
                return (try state.outbox.send(piece, database), false)
            }
            if state.isAtEnd {
                state.hasEnded = true
                return (.end, false)
            }
            defer { state.isWorking = true }
            return (.wait, !state.isWorking)
        }
        if needsWork { threads.submit(for: owner) { [weak self] in self?.work() } }
        return step
    }

    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.wake = nil
        }
    }

    private func work() {
        let wake = state.withLock { state in
            do { state.piece = try Self.make(&state, isMany) } catch { state.failure = error }
            state.isWorking = false
            return state.wake
        }
        wake?()
    }

    /// The next piece.
    private static func make(_ state: inout State, _ isMany: Bool) throws -> WireText {
        var bytes = WireText()
        if state.isFirst, isMany { bytes += Array("{\"results\":[\r\n".utf8) }
        state.isFirst = false
        while var answer = state.answers.first {
            let piece = try answer.next()
            state.answers[state.answers.startIndex] = answer
            if let piece {
                bytes += piece
                if bytes.count >= 64 * 1024 { return bytes }
                continue
            }
            state.answers.removeFirst()
            if isMany, !state.answers.isEmpty { bytes += Array(",\r\n".utf8) }
        }
        bytes += Array(isMany ? "\r\n]}\n".utf8 : "\n".utf8)
        state.isAtEnd = true
        return bytes
    }
}
