/// A body that is still arriving: the transport writes at one end, a handler reads at the other and waits.
final class BodyPipe: RequestBody {
    private struct State {
        var waiting: [[UInt8]]
        var count: Int
        var isAtEnd = false
        var problem: RequestBodyError?
    }

    let declaredLength: Int64?
    private let state: Monitor<State>
    private let onDrained: @Sendable () -> Void
    /// How much waits to be read before the writer has to stop.
    static let capacity = 1 << 20

    /// - Parameters:
    ///   - first: What has arrived already.
    ///   - declaredLength: How much the client said it will be.
    ///   - onDrained: Is called when there is room again.
    init(_ first: [UInt8], declaredLength: Int64?, onDrained: @escaping @Sendable () -> Void) {
        self.declaredLength = declaredLength
        self.onDrained = onDrained
        state = Monitor(State(waiting: first.isEmpty ? [] : [first], count: first.count))
    }

    /// Takes a piece; returns false, and takes nothing, when there is no room.
    func write(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        state.update { state in
            guard state.count < Self.capacity else { return false }
            state.waiting.append(Array(bytes))
            state.count += bytes.count
            return true
        }
    }

    /// Says that nothing more will come.
    func finish() { state.update { $0.isAtEnd = true } }

    /// Says that the rest will never come.
    func abort(_ problem: RequestBodyError = .interrupted) { state.update { $0.problem = problem } }

    func read() throws -> [UInt8]? {
        let (pieces, wasFull) = try state.wait { state -> ([[UInt8]], Bool)? in
            if let problem = state.problem { throw problem }
            guard !state.waiting.isEmpty || state.isAtEnd else { return nil }
            defer { (state.waiting, state.count) = ([], 0) }
            return (state.waiting, state.count >= Self.capacity)
        }
        if wasFull { onDrained() }
        guard pieces.count > 1 else { return pieces.first }
        var all: [UInt8] = []
        all.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
        for piece in pieces { all += piece }
        return all
    }
}
