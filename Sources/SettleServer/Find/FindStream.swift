internal import SettleDatabase
internal import SettlePlatform

/// Sends the answer to a query that is too long for one piece.
final class FindStream: ResponseStream {
    private struct State {
        var answer: FindAnswer
        var piece: [UInt8]?
    }

    private let state: Guarded<State>

    /// - Parameters:
    ///   - answer: What is still to come.
    ///   - piece: What comes before it.
    init(_ answer: FindAnswer, after piece: [UInt8]) { state = Guarded(State(answer: answer, piece: piece)) }

    func next() throws -> ResponseStep {
        try state.withLock { state in
            if let piece = state.piece {
                state.piece = nil
                return .piece(piece)
            }
            guard !state.answer.isDone else { return .end }
            let piece = try state.answer.next()
            return .piece(state.answer.isDone ? piece + "\n".utf8 : piece)
        }
    }
}
