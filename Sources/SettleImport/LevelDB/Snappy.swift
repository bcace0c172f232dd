internal import SettlePlatform

/// Expands Google's Snappy in its raw format, without frames, as LevelDB and CouchDB store it.
///
///     length (varint), then elements:
///     ……00 literal of 1 to 60 bytes, or a length of 1 to 4 more bytes      ……01 copy, 11 bits back
///     ……10 copy, 16 bits back                                            ……11 copy, 32 bits back
package enum Snappy {
    /// Expands bytes.
    ///
    /// - Parameters:
    ///   - bytes: The compressed bytes.
    ///   - limit: How many bytes the content may have.
    /// - Returns: The content; `nil` if the bytes are malformed or the content is longer.
    package static func expand(_ bytes: UnsafeRawBufferPointer, limit: Int) -> [UInt8]? {
        var position = 0
        // An element of three bytes makes at most 64, so a length that the bytes can't reach is refused before memory is taken.
        guard let stated = VariableNumber.read(bytes, &position), let length = Int(exactly: stated), length <= limit,
            length / 22 <= bytes.count
        else { return nil }
        var isComplete = false
        let content = [UInt8](unsafeUninitializedCapacity: length) { output, filled in
            var expansion = Expansion(input: bytes, output: output, length: length, position: position)
            isComplete = expansion.run()
            filled = expansion.filled
        }
        return isComplete ? content : nil
    }

    private struct Expansion {
        let input: UnsafeRawBufferPointer
        let output: UnsafeMutableBufferPointer<UInt8>
        let length: Int
        var position: Int
        var filled = 0

        mutating func run() -> Bool {
            while position < input.count {
                let tag = input[position]
                position += 1
                let isValid =
                    switch tag & 3 {
                    case 0: literal(Int(tag >> 2))
                    case 1: copy(4 + Int(tag >> 2 & 7), offset: number(bytes: 1).map { Int(tag >> 5) << 8 | $0 })
                    case 2: copy(1 + Int(tag >> 2), offset: number(bytes: 2))
                    default: copy(1 + Int(tag >> 2), offset: number(bytes: 4))
                    }
                guard isValid else { return false }
            }
            return filled == length
        }

        private mutating func number(bytes count: Int) -> Int? {
            guard count <= input.count - position else { return nil }
            var number = 0
            for index in 0..<count { number |= Int(input[position + index]) << (8 * index) }
            position += count
            return number
        }

        private mutating func literal(_ code: Int) -> Bool {
            guard let last = code < 60 ? code : number(bytes: code - 59), last < input.count - position,
                last < length - filled
            else { return false }
            let count = last + 1
            UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(output)[filled..<filled + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: input[position..<position + count]))
            position += count
            filled += count
            return true
        }

        private mutating func copy(_ count: Int, offset: Int?) -> Bool {
            guard let offset, offset > 0, offset <= filled, count <= length - filled else { return false }
            // The copy may overlap what it writes: then it repeats.
            for index in filled..<filled + count { output[index] = output[index - offset] }
            filled += count
            return true
        }
    }
}
