/// Finds the end of a chunked body, as in RFC 9112 section 7.1.
///
///     5\r\n        size: hexadecimal digits, then anything up to the line's end
///     hello        content
///     \r\n         contentEnd
///     0\r\n        size 0: the trailer follows
///     X: y\r\n     trailer: lines, until one is empty
///     \r\n
struct ChunkScanner {
    private enum Place {
        case size(digits: Int, value: Int, isOver: Bool)
        case content(Int)
        case contentEnd
        case trailer(lineLength: Int)
        case done
    }

    private var place = Place.size(digits: 0, value: 0, isOver: false)

    var isDone: Bool { if case .done = place { true } else { false } }

    /// Advances over one piece: a run of content, or a framing byte; `nil` for malformed framing.
    mutating func step(over bytes: ArraySlice<UInt8>) -> (count: Int, isContent: Bool)? {
        guard let byte = bytes.first, !isDone else { return (0, false) }
        if case .content(let left) = place {
            let count = min(left, bytes.count)
            place = count == left ? .contentEnd : .content(left - count)
            return (count, true)
        }
        guard let next = following(byte) else { return nil }
        place = next
        return (1, false)
    }

    private func following(_ byte: UInt8) -> Place? {
        let isLineEnd = byte == UInt8(ascii: "\n")
        switch place {
        case .size(let digits, let value, let isOver):
            if isLineEnd {
                guard digits > 0 else { return nil }
                return value == 0 ? .trailer(lineLength: 0) : .content(value)
            }
            guard !isOver, let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
                return digits > 0 ? .size(digits: digits, value: value, isOver: true) : nil
            }
            return digits < 15 ? .size(digits: digits + 1, value: value << 4 | digit, isOver: false) : nil
        case .contentEnd:
            if isLineEnd { return .size(digits: 0, value: 0, isOver: false) }
            return byte == UInt8(ascii: "\r") ? .contentEnd : nil
        case .trailer(let length):
            if isLineEnd { return length == 0 ? .done : .trailer(lineLength: 0) }
            return .trailer(lineLength: byte == UInt8(ascii: "\r") ? length : length + 1)
        case .content, .done: return nil
        }
    }
}
