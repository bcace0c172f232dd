/// A term of Erlang in its external format, minor version 1, as far as names that CouchDB derives from terms need
/// it.
package enum ErlangTerm: Sendable {
    /// An atom, in ASCII.
    case atom(String)
    /// A text as a binary.
    case binary(String)
    /// A signed integer of up to 32 bits.
    case integer(Int32)
    /// A tuple.
    case tuple([ErlangTerm])
    /// A list.
    case list([ErlangTerm])
    /// The members of a document, in CouchDB's representation of JSON.
    case members(DocumentBody)
    /// A JSON value.
    case json(JSONValue)

    /// The bytes of the term, as `term_to_binary` returns them.
    package var bytes: [UInt8] {
        var bytes = [ExternalTerm.version]
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .atom(let word):
            bytes.append(ExternalTerm.atom)
            bytes.append(0)
            bytes.append(UInt8(truncatingIfNeeded: word.utf8.count))
            bytes += word.utf8
        case .binary(let text):
            bytes.append(ExternalTerm.binary)
            Self.append(text.utf8.count, to: &bytes)
            bytes += text.utf8
        case .integer(let number):
            guard !(0...255).contains(number) else {
                bytes.append(ExternalTerm.smallInteger)
                bytes.append(UInt8(truncatingIfNeeded: number))
                return
            }
            bytes.append(ExternalTerm.integer)
            Self.append(Int(number), to: &bytes)
        case .tuple(let terms):
            bytes.append(ExternalTerm.smallTuple)
            bytes.append(UInt8(truncatingIfNeeded: terms.count))
            for term in terms { term.append(to: &bytes) }
        case .list(let terms):
            if !terms.isEmpty {
                bytes.append(ExternalTerm.list)
                Self.append(terms.count, to: &bytes)
                for term in terms { term.append(to: &bytes) }
            }
            bytes.append(ExternalTerm.emptyList)
        case .members(let body): bytes += body.term
        case .json(let value):
            // {[{<<"v">>, Value}]}: fifteen bytes come before the value, and the list's end after it.
            guard let body = try? DocumentBody(["v": value]) else { return bytes.append(ExternalTerm.emptyList) }
            bytes += body.term.dropFirst(15).dropLast()
        }
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}

// MARK: - ExternalTerm

/// The tags of Erlang's external term format that a revision id needs, minor version 1 (SEMANTICS 198).
enum ExternalTerm {
    static let version: UInt8 = 131
    static let smallInteger: UInt8 = 97
    static let integer: UInt8 = 98
    static let atom: UInt8 = 100
    static let smallTuple: UInt8 = 104
    static let emptyList: UInt8 = 106
    static let byteList: UInt8 = 107
    static let list: UInt8 = 108
    static let binary: UInt8 = 109
    static let smallBignum: UInt8 = 110
    static let largeBignum: UInt8 = 111
    static let float: UInt8 = 70

    /// The longest list of bytes that is written as one string of bytes.
    static let longestByteList = 65_535
    /// The maximum number of a term's bytes per byte of its text: `[` takes five, everything else less.
    static let expansion = 6
}

extension ByteWriter {
    /// Writes an integer of up to 64 bits.
    @inline(__always)
    mutating func appendTerm(_ value: Int64) {
        switch value {
        case 0...255:
            append(ExternalTerm.smallInteger)
            append(UInt8(truncatingIfNeeded: value))
        case Int64(Int32.min)...Int64(Int32.max):
            append(ExternalTerm.integer)
            append(bigEndian: UInt32(bitPattern: Int32(truncatingIfNeeded: value)))
        default: appendBignum(BigInteger(value.magnitude), isNegative: value < 0)
        }
    }

    /// Writes an integer that needs more than 32 bits: its length, sign and bytes, lowest first.
    mutating func appendBignum(_ value: BigInteger, isNegative: Bool) {
        let bytes = value.littleEndianBytes
        if bytes.count <= 255 {
            append(ExternalTerm.smallBignum)
            append(UInt8(truncatingIfNeeded: bytes.count))
        } else {
            append(ExternalTerm.largeBignum)
            append(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
        }
        append(isNegative ? 1 : 0)
        for byte in bytes { append(byte) }
    }

    /// Writes an atom: `true`, `false`, `null`.
    @inline(__always)
    mutating func appendAtom(_ word: StaticString) {
        append(ExternalTerm.atom)
        append(0)
        append(UInt8(truncatingIfNeeded: word.utf8CodeUnitCount))
        append(word.utf8Start, count: word.utf8CodeUnitCount)
    }

    /// Writes bytes as a binary.
    mutating func appendBinary(_ bytes: [UInt8]) {
        append(ExternalTerm.binary)
        append(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
        for byte in bytes { append(byte) }
    }
}

// MARK: - ByteWriter

/// Appends bytes to memory that was reserved beforehand, without a check per write.
///
/// The owner reserves the maximum size before it writes and frees the memory at the end. The written bytes are
/// returned as an array of the exact size.
struct ByteWriter {
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    /// The number of written bytes; lowering it removes the last ones.
    private(set) var count = 0

    init(capacity: Int) { self.init(.allocate(capacity: capacity), capacity: capacity) }

    /// Writes to memory that the caller frees.
    init(_ memory: UnsafeMutablePointer<UInt8>, capacity: Int) { (base, self.capacity) = (memory, capacity) }

    func deallocate() { base.deallocate() }

    /// The written bytes.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        assert(count < capacity)
        base[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, count length: Int) {
        assert(count &+ length <= capacity)
        (base + count).update(from: source, count: length)
        count &+= length
    }

    @inline(__always)
    mutating func append(bigEndian value: UInt32) {
        put(bigEndian: value, at: count)
        count &+= 4
    }

    @inline(__always)
    mutating func put(bigEndian value: UInt32, at position: Int) {
        assert(position &+ 4 <= capacity)
        UnsafeMutableRawPointer(base + position).storeBytes(of: value.bigEndian, as: UInt32.self)
    }

    @inline(__always)
    mutating func append(bigEndian value: UInt64) {
        assert(count &+ 8 <= capacity)
        UnsafeMutableRawPointer(base + count).storeBytes(of: value.bigEndian, as: UInt64.self)
        count &+= 8
    }

    /// A written byte.
    @inline(__always)
    subscript(position: Int) -> UInt8 {
        get { base[position] }
        nonmutating set { base[position] = newValue }
    }

    /// The address of the byte at a position.
    @inline(__always)
    func pointer(to position: Int) -> UnsafePointer<UInt8> { UnsafePointer(base + position) }

    /// The bytes written from a position on.
    func written(from position: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + position, count: count - position)
    }

    /// Removes the bytes written after a position.
    @inline(__always)
    mutating func truncate(to position: Int) { count = position }
}

// MARK: - BigInteger

/// An unsigned integer of any size, with only the operations needed to write it in binary.
struct BigInteger {
    /// Words of 64 bits, the lowest first, without zeros at the top.
    private var words: [UInt64]

    init(_ value: UInt64) { words = value == 0 ? [] : [value] }

    /// Reads decimal digits, eighteen at a time.
    ///
    /// - Complexity: O(*n*²) in digits, which is why ``JSONLimits/integerDigits`` bounds them.
    init(digits: some Sequence<UInt8>) {
        words = []
        var chunk: UInt64 = 0
        var scale: UInt64 = 1
        for digit in digits {
            chunk = chunk * 10 + UInt64(digit & 15)
            scale *= 10
            if scale == 1_000_000_000_000_000_000 {
                multiply(by: scale, adding: chunk)
                chunk = 0
                scale = 1
            }
        }
        if scale > 1 { multiply(by: scale, adding: chunk) }
    }

    private mutating func multiply(by factor: UInt64, adding addend: UInt64) {
        var carry = addend
        for index in words.indices {
            let (high, low) = words[index].multipliedFullWidth(by: factor)
            let (sum, overflow) = low.addingReportingOverflow(carry)
            words[index] = sum
            carry = high &+ (overflow ? 1 : 0)
        }
        if carry > 0 { words.append(carry) }
    }

    /// The value if it fits into 63 bits.
    var small: Int64? { words.isEmpty ? 0 : words.count == 1 ? Int64(exactly: words[0]) : nil }

    /// The bytes, the lowest first, without zeros at the top.
    var littleEndianBytes: [UInt8] {
        var bytes: [UInt8] = []
        for word in words {
            withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
        }
        while bytes.last == 0 { bytes.removeLast() }
        return bytes
    }
}
