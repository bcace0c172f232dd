internal import SettlePlatform

/// Unicode's root collation: the elements of code points and contractions, unpacked.
///
///     entry of a code point     0             a formula gives the element: Hangul, or a code point without weights
///                               pppppp FF     one element: primary pppppp00 and common weights
///                               oooooo fc     elements from o on, c of them in five bits, and three flags
///     element                   primary (32 bits), secondary (16), tertiary (16)
///
/// Entries are in pages of 256 code points; equal empty pages are shared.
// Unchecked: it needs no lock, because `init` writes it and it is immutable afterwards.
final class CollationTable: @unchecked Sendable {
    /// The table of the process, which is unpacked at its first use.
    static let shared = CollationTable(unpacking: CollationData.packed)

    /// The secondary and tertiary weight of most elements.
    static let common: UInt64 = 0x0500_0500
    /// The code point has its own entry.
    static let isKnown: UInt32 = 0x20
    /// Contractions begin with the code point, or its elements depend on the code point before it.
    static let hasContext: UInt32 = 0x40
    /// The code point may belong to the code points before it.
    static let isAttached: UInt32 = 0x80

    private let pages: UnsafeMutablePointer<UInt16>
    private let entries: UnsafeMutablePointer<UInt32>
    private let elements: UnsafeMutablePointer<UInt64>
    /// Contractions, as steps from one code point to the next.
    let contractions: CollationContractions
    /// Whether neighbors that share a primary's first byte write it only once.
    let isShared: [Bool]

    init(unpacking packed: StaticString) {
        var reader = CollationReader(packed)
        let parts = CollationParts(&reader)
        pages = Self.allocate(parts.pages)
        entries = Self.allocate(parts.entries)
        elements = Self.allocate(parts.elements)
        contractions = parts.contractions
        isShared = parts.isShared
    }

    deinit {
        pages.deallocate()
        entries.deallocate()
        elements.deallocate()
    }

    private static func allocate<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafeMutablePointer<Value> {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: max(values.count, 1))
        memory.initialize(from: values, count: values.count)
        return memory
    }

    /// The entry of a code point.
    @inline(__always)
    func entry(of point: UInt32) -> UInt32 {
        entries[Int(pages[Int(point >> 8)]) << 8 | Int(point & 0xFF)]
    }

    /// The elements from an index on.
    @inline(__always)
    func elements(from place: UInt32) -> UnsafePointer<UInt64> { UnsafePointer(elements + Int(place)) }

    /// The element of a code point without weights: after all other elements, in the order of code points.
    static func unassigned(_ point: UInt32) -> UInt64 {
        let low = (point + 1) % 18 * 14 + 2
        let rest = (point + 1) / 18
        let primary = 0xFE00_0000 | (rest / 254 + 4) << 16 | (rest % 254 + 2) << 8 | low
        return UInt64(primary) << 32 | common
    }
}

// MARK: - CollationParts

/// The parts of the table, in the order of the packed columns; `Scripts/collation/derive.py` describes them.
struct CollationParts {
    private(set) var pages = [UInt16](repeating: 0, count: 0x1100)
    private(set) var entries = [UInt32](repeating: 0, count: 256)
    private(set) var elements: [UInt64] = []
    private(set) var contractions = CollationContractions()
    private(set) var isShared: [Bool] = []

    init(_ reader: inout CollationReader) {
        entries.reserveCapacity(600 << 8)
        readRanked(&reader)
        readOthers(&reader)
        let count = reader.number()
        let points = reader.steps(count)
        for (point, both) in zip(points, reader.column(count)) {
            contractions.classes[UInt32(point)] = UInt16(both)
        }
        isShared = reader.column(256).map { $0 == 1 }
    }

    /// The code points with one element of common weights.
    private mutating func readRanked(_ reader: inout CollationReader) {
        let count = reader.number()
        let runs = reader.number()
        let blocks = reader.column(runs)
        let lengths = reader.column(runs)
        var last = [Int](repeating: 0, count: (blocks.max() ?? 0) + 1)
        var points: [Int] = []
        points.reserveCapacity(count)
        for (block, length) in zip(blocks, lengths) {
            for _ in 0..<length {
                last[block] += CollationReader.signed(reader.number())
                points.append(last[block])
            }
        }
        for (point, primary) in zip(points, reader.steps(count)) { set(point, UInt32(primary) << 8 | 0xFF) }
    }

    /// The code points with other elements, and the contractions.
    private mutating func readOthers(_ reader: inout CollationReader) {
        let points = reader.steps(reader.number())
        let flags = reader.column(points.count)
        let lengths = reader.column(points.count)
        var place = 0
        for index in points.indices {
            let entry = CollationTable.isKnown | UInt32(flags[index]) << 6 | UInt32(lengths[index])
            set(points[index], UInt32(place) << 8 | entry)
            place += lengths[index]
        }
        let count = reader.number()
        let (first, second, third) = (reader.column(count), reader.column(count), reader.column(count))
        let sizes = reader.column(count)
        for index in 0..<count {
            let text = [first[index], second[index], third[index]].map { UInt32($0) }
            contractions.add(text, CollationRun(place: UInt32(place), count: sizes[index]))
            place += sizes[index]
        }
        let primaries = reader.steps(place, areSigned: true)
        let secondaries = reader.column(place)
        let tertiaries = reader.column(place)
        elements = (0..<place).map { index in
            UInt64(primaries[index]) << 32 | UInt64(secondaries[index]) << 16 | UInt64(tertiaries[index])
        }
    }

    private mutating func set(_ point: Int, _ entry: UInt32) {
        if pages[point >> 8] == 0 {
            pages[point >> 8] = UInt16(entries.count >> 8)
            entries.append(contentsOf: repeatElement(0, count: 256))
        }
        entries[Int(pages[point >> 8]) << 8 | point & 0xFF] = entry
    }
}

// MARK: - CollationContractions

/// Consecutive elements of the table.
struct CollationRun {
    /// The index of the first element.
    let place: UInt32
    /// The number of elements.
    let count: Int
}

/// The contractions: sequences of code points that have their own elements.
///
///     0CC6 0CC2 0CD5     the state is 0CC6 first, then a number for "0CC6 0CC2", then one for all three
struct CollationContractions {
    /// The result of a state and a code point.
    struct Step {
        /// The state for the following steps.
        let state: UInt32
        /// The elements, if the code points so far are a contraction.
        var run: CollationRun?
        /// Whether longer contractions begin with these code points.
        var goesOn = false
    }

    private var steps: [UInt64: Step] = [:]
    private var fronts: [UInt64: CollationRun] = [:]
    /// The combining classes of a code point's first and last mark, in two bytes.
    var classes: [UInt32: UInt16] = [:]

    /// The step that a code point makes from a state. The first state is the contraction's first code point.
    func step(from state: UInt32, by point: UInt32) -> Step? { steps[Self.key(state, point)] }

    /// The elements of a code point after a certain other one, like the dot in `l·`.
    func run(of point: UInt32, after front: UInt32) -> CollationRun? { fronts[Self.key(front, point)] }

    /// The combining class of a code point's first mark; zero if it does not begin with one.
    func firstClass(of point: UInt32) -> UInt8 { point < 0x300 ? 0 : UInt8(classes[point, default: 0] >> 8) }

    /// The combining class of a code point's last mark.
    func lastClass(of point: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: classes[point, default: 0]) }

    /// Adds a contraction of two or three code points; or, after a zero, a code point and the one before it.
    mutating func add(_ text: [UInt32], _ run: CollationRun) {
        guard text[0] > 0 else {
            fronts[Self.key(text[2], text[1])] = run
            return
        }
        var state = text[0]
        let rest = text.dropFirst().prefix { $0 > 0 }
        for (index, point) in zip(rest.indices, rest) {
            let key = Self.key(state, point)
            let isLast = index == rest.endIndex - 1
            var step = steps[key] ?? Step(state: 0x110000 + UInt32(steps.count))
            if isLast { step.run = run } else { step.goesOn = true }
            steps[key] = step
            state = step.state
        }
    }

    private static func key(_ state: UInt32, _ point: UInt32) -> UInt64 { UInt64(state) << 21 | UInt64(point) }
}

// MARK: - CollationReader

/// Reads the numbers of the packed table: base64 of gzip of unsigned numbers in groups of seven bits.
struct CollationReader {
    private var bytes: [UInt8] = []
    private var place = 0

    init(_ packed: StaticString) {
        // The bytes are part of the program, and a test reads all of them.
        bytes = (try? Deflate.expand(packed.withUTF8Buffer(Self.decode), .gzip, limit: .max)) ?? []
    }

    /// The next number; zero after the end.
    mutating func number() -> Int {
        var (value, shift) = (0, 0)
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            value |= Int(byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 { break }
        }
        return value
    }

    /// The next numbers.
    mutating func column(_ count: Int) -> [Int] {
        var numbers: [Int] = []
        numbers.reserveCapacity(count)
        for _ in 0..<count { numbers.append(number()) }
        return numbers
    }

    /// The next numbers, each stored as the difference from the one before.
    mutating func steps(_ count: Int, areSigned: Bool = false) -> [Int] {
        var last = 0
        return column(count).map { step in
            last += areSigned ? Self.signed(step) : step
            return last
        }
    }

    /// Decodes a number that may be negative.
    static func signed(_ number: Int) -> Int { number & 1 == 0 ? number >> 1 : -(number >> 1) - 1 }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var digits = [UInt8](repeating: 0, count: 256)
        let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        alphabet.withUTF8Buffer { for (digit, letter) in $0.enumerated() { digits[Int(letter)] = UInt8(digit) } }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        for (index, letter) in text.enumerated() {
            bits = bits << 6 | UInt32(digits[Int(letter)])
            guard index & 3 == 3 else { continue }
            for shift in [16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        }
        return bytes
    }
}
