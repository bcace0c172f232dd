/// How the end of a body is found, and how much of it is still to come.
enum BodyFraming {
    /// The number of bytes that are left.
    case length(Int)
    /// In chunks.
    case chunked(ChunkScanner)
    /// All that comes until the connection ends.
    case untilEnd

    /// Whether no more bytes belong to the body.
    var isDone: Bool {
        switch self {
        case .length(let left): left == 0
        case .chunked(let scanner): scanner.isDone
        case .untilEnd: false
        }
    }

    /// How long the body is, where that is told.
    var length: Int? { if case .length(let left) = self { left } else { nil } }

    /// Goes on over bytes that came.
    ///
    /// - Returns: How many of them belong to the body, and whether those are content and not what frames it. More may
    ///   belong to it: ask again. Bytes that break the rules are content until the connection ends.
    mutating func step(over bytes: ArraySlice<UInt8>) -> (count: Int, isContent: Bool) {
        switch self {
        case .length(let left):
            let count = min(left, bytes.count)
            self = .length(left - count)
            return (count, true)
        case .untilEnd: return (bytes.count, true)
        case .chunked(var scanner):
            guard let step = scanner.step(over: bytes) else {
                self = .untilEnd
                return (0, true)
            }
            self = .chunked(scanner)
            return step
        }
    }
}
