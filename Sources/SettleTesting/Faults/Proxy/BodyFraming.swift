/// The framing of a body, with the state of reading it.
enum BodyFraming {
    /// A number of remaining bytes.
    case length(Int)
    /// Chunked encoding.
    case chunked(ChunkScanner)
    /// All bytes until the connection ends.
    case untilEnd

    /// Whether the body is complete.
    var isDone: Bool {
        switch self {
        case .length(let left): left == 0
        case .chunked(let scanner): scanner.isDone
        case .untilEnd: false
        }
    }

    /// The remaining length of the body, if known.
    var length: Int? { if case .length(let left) = self { left } else { nil } }

    /// Advances over received bytes.
    ///
    /// - Returns: How many of them belong to the body, and whether those are content rather than framing. More may
    ///   belong to it: call again. Malformed bytes count as content until the connection ends.
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
