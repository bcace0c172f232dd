internal import SettlePlatform

/// Reads the records of a log of LevelDB, which a `.log` file and a `MANIFEST` are.
///
///     block of 32,768 bytes:  record, record, …, fewer than 7 zeros
///     record:                 masked CRC-32C (4)  length (2)  kind (1)  data
///     kind:                   1 whole   2 first, 3 middle, 4 last part   0 with length 0: preallocated
///
/// The first record that is damaged ends the log, as it does where a program stopped in the middle of writing.
package struct LevelLog {
    private enum Kind { static let (whole, first, middle, last): (UInt8, UInt8, UInt8, UInt8) = (1, 2, 3, 4) }
    private enum Part {
        case data(kind: UInt8, Range<Int>)
        case nextBlock
        case end
        case damage
    }

    /// The size of a block.
    package static let blockSize = 32_768
    private static let headerSize = 7

    private let size: Int
    private let readBlock: (Int, Int) throws -> [UInt8]
    private var block: [UInt8] = []
    /// Where the block begins in the file.
    private var blockStart = 0
    /// The place of the next part in the block.
    private var offset = 0
    private var isAtEnd = false
    /// How many bytes at the end are not read, because a record is cut or damaged; 0 if none.
    package private(set) var unread = 0
    /// Whether a record is damaged, and not only cut by the end of the file.
    package private(set) var isDamaged = false

    /// Begins at the start of a record, or of the file.
    init(_ file: ForeignFile, at position: Int = 0) {
        self.init(size: file.size, at: position) { try file.read(at: $0, count: $1) }
    }

    /// Reads a log in memory.
    package init(_ bytes: [UInt8]) {
        self.init(size: bytes.count, at: 0) { Array(bytes[$0..<$0 + $1]) }
    }

    private init(size: Int, at position: Int, readBlock: @escaping (Int, Int) throws -> [UInt8]) {
        (self.size, self.readBlock) = (size, readBlock)
        blockStart = position / Self.blockSize * Self.blockSize
        offset = position - blockStart
    }

    /// The next record and its position; `nil` at the end.
    ///
    /// - Throws: ``ForeignFileError`` if the file can't be read.
    package mutating func next() throws -> (position: Int, bytes: [UInt8])? {
        var record: [UInt8] = []
        var start: Int?
        while !isAtEnd {
            if block.isEmpty, try !load() {
                end(start, isDamaged: false)
                return nil
            }
            let position = blockStart + offset
            switch part() {
            case .nextBlock: nextBlock()
            case .end: end(start, isDamaged: false, from: position)
            case .damage: end(start, isDamaged: true, from: position)
            case .data(let kind, let range):
                let begins = kind == Kind.whole || kind == Kind.first
                // A program that stopped within a record, and went on in the same log, leaves the first parts behind.
                if begins { (record, start) = ([], position) }
                guard let first = start, record.count + range.count <= ForeignFile.maximumRecord + Self.blockSize else {
                    end(start, isDamaged: true, from: position)
                    return nil
                }
                record += block[range]
                if kind == Kind.whole || kind == Kind.last { return (first, record) }
            }
        }
        return nil
    }

    private mutating func load() throws -> Bool {
        guard blockStart + offset < size else { return false }
        block = try readBlock(blockStart, min(Self.blockSize, size - blockStart))
        return true
    }

    private mutating func nextBlock() {
        (block, blockStart, offset) = ([], blockStart + Self.blockSize, 0)
    }

    private mutating func end(_ start: Int?, isDamaged: Bool, from position: Int? = nil) {
        isAtEnd = true
        guard let place = start ?? position else { return }
        unread = size - place
        self.isDamaged = isDamaged
    }

    /// The part of a record at the place in the block.
    private mutating func part() -> Part {
        block.withUnsafeBytes { bytes in
            let left = bytes.count - offset
            guard left >= Self.headerSize else {
                // At the end of a whole block there is room for no header.
                return bytes.count == Self.blockSize ? .nextBlock : .end
            }
            let length = Int(bytes[offset + 4]) | Int(bytes[offset + 5]) << 8
            let kind = bytes[offset + 6]
            guard let stored = FixedNumber.little(bytes, offset, as: UInt32.self) else { return .damage }
            if kind == 0, length == 0, stored == 0 { return restIsZero(bytes) ? .nextBlock : .damage }
            let data = offset + Self.headerSize..<offset + Self.headerSize + length
            guard data.upperBound <= bytes.count else { return bytes.count == Self.blockSize ? .damage : .end }
            let sum = CRC32C.sum(UnsafeRawBufferPointer(rebasing: bytes[offset + 6..<data.upperBound]))
            guard CRC32C.masked(sum) == stored, (Kind.whole...Kind.last).contains(kind) else { return .damage }
            offset = data.upperBound
            return .data(kind: kind, data)
        }
    }

    private func restIsZero(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes[offset...].allSatisfy { $0 == 0 } }
}

// MARK: - LevelBatch

/// The changes of a record of a `.log` file: a sequence number, their count, and the changes.
package enum LevelBatch {
    /// A change of a key, at a range of the record.
    package struct Change {
        package let key: Range<Int>
        /// The value; `nil` if the key is deleted.
        package let value: Range<Int>?
        package let sequence: UInt64
    }

    /// Reads a record.
    ///
    /// - Returns: The changes in order; `nil` if the record is malformed.
    package static func changes(in record: UnsafeRawBufferPointer) -> [Change]? {
        guard let first = FixedNumber.little(record, 0, as: UInt64.self),
            let count = FixedNumber.little(record, 8, as: UInt32.self), Int(count) <= record.count / 2
        else { return nil }
        var changes: [Change] = []
        var position = 12
        while position < record.count {
            let tag = record[position]
            position += 1
            guard tag <= 1, let key = text(in: record, &position) else { return nil }
            var value: Range<Int>?
            if tag == 1 {
                guard let found = text(in: record, &position) else { return nil }
                value = found
            }
            let (sequence, overflow) = first.addingReportingOverflow(UInt64(changes.count))
            guard !overflow else { return nil }
            changes.append(Change(key: key, value: value, sequence: sequence))
        }
        return changes.count == Int(count) ? changes : nil
    }

    /// A length and so many bytes.
    static func text(in record: UnsafeRawBufferPointer, _ position: inout Int) -> Range<Int>? {
        guard let length = VariableNumber.readLength(record, &position) else { return nil }
        position += length
        return position - length..<position
    }
}

// MARK: - LevelManifest

/// The state of a database as its `MANIFEST` describes it: which files are part of it.
package struct LevelManifest {
    /// A table.
    package struct Table {
        package let number: UInt64
        package let size: UInt64
        /// The lowest and the highest key, with their sequence numbers.
        package let smallest: [UInt8]
        package let largest: [UInt8]
    }

    /// The order of keys.
    package private(set) var comparator = ""
    /// The first log that counts.
    package private(set) var logNumber: UInt64 = 0
    /// A log before it that counts too; 0 for none.
    package private(set) var previousLog: UInt64 = 0
    /// The tables of each level.
    package private(set) var levels = [[UInt64: Table]](repeating: [:], count: Self.levelCount)

    /// LevelDB has seven levels.
    static let levelCount = 7

    package init() {}

    /// Applies a record, a list of changes.
    ///
    /// - Returns: Whether the record is well-formed.
    package mutating func apply(_ record: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < record.count {
            guard let tag = VariableNumber.read(record, &position), apply(tag, in: record, &position) else {
                return false
            }
        }
        return true
    }

    private mutating func apply(_ tag: UInt64, in record: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        func number() -> UInt64? { VariableNumber.read(record, &position) }
        func text() -> [UInt8]? { LevelBatch.text(in: record, &position).map { Array(record[$0]) } }
        func level() -> Int? { number().flatMap { $0 < Self.levelCount ? Int($0) : nil } }
        switch tag {
        case 1:
            guard let name = text() else { return false }
            comparator = String(decoding: name, as: UTF8.self)
        case 2:
            guard let found = number() else { return false }
            logNumber = found
        case 3, 4: return number() != nil
        case 5: return level() != nil && text() != nil
        case 6:
            guard let level = level(), let file = number() else { return false }
            levels[level][file] = nil
        case 7:
            guard let level = level(), let file = number(), let size = number(), let smallest = text(),
                let largest = text(), smallest.count >= 8, largest.count >= 8
            else { return false }
            levels[level][file] = Table(number: file, size: size, smallest: smallest, largest: largest)
        case 9:
            guard let found = number() else { return false }
            previousLog = found
        default: return false
        }
        return true
    }
}
