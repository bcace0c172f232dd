internal import SettleDatabase
internal import SettlePlatform

/// A long body that has come as a whole: most of it lies in a file, its end in memory.
final class SpooledBody: RequestBody {
    private struct State {
        var offset: Int64 = 0
        var rest: [UInt8]
        var isFileRead = false
    }

    let declaredLength: Int64?
    private let file: UploadFile
    private let state: Guarded<State>

    /// - Parameters:
    ///   - file: The beginning.
    ///   - rest: What follows.
    ///   - length: How long both are.
    init(_ file: UploadFile, rest: [UInt8], length: Int64) {
        self.file = file
        declaredLength = length
        state = Guarded(State(rest: rest))
    }

    func read() throws -> [UInt8]? {
        try state.withLock { state in
            if !state.isFileRead {
                let piece = try file.read(at: state.offset)
                state.offset += Int64(piece.count)
                if !piece.isEmpty { return piece }
                state.isFileRead = true
            }
            defer { state.rest = [] }
            return state.rest.isEmpty ? nil : state.rest
        }
    }
}
