internal import SettlePlatform

/// A block of a table: keys in ascending order with their values.
///
///     entry:  shared, unshared, length (varints), rest of the key, value       the key begins with `shared` bytes of the last one
///     end:    places of entries that share nothing (4 bytes each), their count (4)
package struct LevelBlock {
    /// An entry.
    package struct Entry {
        package var key: [UInt8] = []
        /// The place of the value in the block.
        package var value: Range<Int> = 0..<0
    }

    package let bytes: [UInt8]
    private let restarts: Int
    /// Where the entries end.
    private let end: Int

    /// The longest key that is read.
    static let maximumKey = 64 << 10

    /// Checks the end of a block; `nil` if it is malformed.
    package init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        let count = bytes.withUnsafeBytes { FixedNumber.little($0, $0.count - 4, as: UInt32.self) }
        guard let count, count > 0, Int(count) <= (bytes.count - 4) / 4 else { return nil }
        restarts = Int(count)
        end = bytes.count - 4 - 4 * restarts
    }

    /// Walks through the entries in order.
    package struct Cursor {
        fileprivate let block: LevelBlock
        fileprivate var position = 0
        /// The entry at hand.
        package private(set) var entry = Entry()

        fileprivate init(_ block: LevelBlock) { self.block = block }

        /// Moves to the next entry.
        ///
        /// - Returns: Whether there is one.
        /// - Throws: ``LevelBlock/Malformed``.
        package mutating func next() throws(Malformed) -> Bool {
            guard position < block.end else { return false }
            position = try block.read(&entry, at: position)
            return true
        }
    }

    /// An entry that is not well-formed.
    package struct Malformed: Error {}

    /// A cursor before the first entry.
    package var cursor: Cursor { Cursor(self) }

    /// A cursor from which the next entry is the first one that is not below something, or one a few places before it.
    ///
    /// - Parameter isBelow: Whether a key is below it.
    /// - Returns: The cursor.
    /// - Throws: ``Malformed``.
    package func cursor(isBelow: ([UInt8]) -> Bool) throws(Malformed) -> Cursor {
        var (low, high) = (0, restarts)
        while high - low > 1 {
            let middle = (low + high) / 2
            var entry = Entry()
            let place = try restart(middle)
            _ = try read(&entry, at: place)
            if isBelow(entry.key) { low = middle } else { high = middle }
        }
        var cursor = Cursor(self)
        cursor.position = low == 0 ? 0 : try restart(low)
        return cursor
    }

    private func restart(_ index: Int) throws(Malformed) -> Int {
        let place = bytes.withUnsafeBytes { FixedNumber.little($0, end + 4 * index, as: UInt32.self) }
        guard let place, Int(place) < end else { throw Malformed() }
        return Int(place)
    }

    /// Reads the entry at a place.
    ///
    /// - Returns: The place of the next one.
    private func read(_ entry: inout Entry, at place: Int) throws(Malformed) -> Int {
        var position = place
        let range = bytes.withUnsafeBytes { bytes -> Range<Int>? in
            let entries = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            guard let shared = VariableNumber.read(entries, &position), shared <= UInt64(entry.key.count),
                let unshared = VariableNumber.read(entries, &position),
                let length = VariableNumber.read(entries, &position),
                unshared <= UInt64(entries.count - position),
                length <= UInt64(entries.count - position) - unshared,
                shared + unshared <= UInt64(Self.maximumKey)
            else { return nil }
            entry.key.removeLast(entry.key.count - Int(shared))
            entry.key += entries[position..<position + Int(unshared)]
            position += Int(unshared)
            return position..<position + Int(length)
        }
        guard let range else { throw Malformed() }
        entry.value = range
        return range.upperBound
    }
}

// MARK: - LevelKey

/// A key as tables have it: the key of the database, and then a number of 8 bytes, its sequence times 256 and whether it is a
/// value.
struct LevelKey {
    let user: ArraySlice<UInt8>
    let sequence: UInt64
    let isValue: Bool

    /// Reads a key; `nil` if it is too short or of an unknown kind.
    init?(_ bytes: [UInt8]) {
        guard let tag = bytes.withUnsafeBytes({ FixedNumber.little($0, $0.count - 8, as: UInt64.self) }), tag & 255 <= 1
        else { return nil }
        (user, sequence, isValue) = (bytes.dropLast(8), tag >> 8, tag & 255 == 1)
    }

    /// Whether bytes come before others.
    static func precedes(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        compare(left, right) < 0
    }

    /// The order of bytes: below, equal to or above zero.
    static func compare(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Int {
        let result = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right -> Int in
                let shared = min(left.count, right.count)
                if shared > 0, let first = left.baseAddress, let second = right.baseAddress {
                    let order = memcmp(first, second, shared)
                    if order != 0 { return Int(order) }
                }
                return left.count - right.count
            }
        }
        if let order = result ?? nil { return order }
        if left.lexicographicallyPrecedes(right) { return -1 }
        return left.elementsEqual(right) ? 0 : 1
    }
}

// MARK: - LevelTable

/// A table, a file of sorted blocks with an index of them.
///
///     block, block, …, index block, footer
///     block:   data, compression (1: 0 none, 1 snappy), masked CRC-32C of both (4)
///     footer:  places of the two index blocks (varints), zeros, magic number: 48 bytes
final class LevelTable {
    private let file: ForeignFile
    private let index: LevelBlock
    /// The block that was read last, if it is small.
    private var last: (offset: Int, block: LevelBlock)?

    private static let footerSize = 48
    private static let magic: UInt64 = 0xDB47_7524_8B80_FB57
    private static let trailerSize = 5
    /// A larger block, one with an attachment, is not kept.
    private static let keptSize = 64 << 10

    /// Opens a table.
    ///
    /// - Throws: ``ForeignFileError``.
    init(_ file: ForeignFile) throws {
        self.file = file
        guard file.size >= Self.footerSize else { throw Self.damaged(file, "it is too short") }
        let footer = try file.read(at: file.size - Self.footerSize, count: Self.footerSize)
        let handle = footer.withUnsafeBytes { bytes -> Range<Int>? in
            var position = 0
            guard FixedNumber.little(bytes, 40, as: UInt64.self) == Self.magic,
                Self.handle(in: bytes, &position) != nil
            else { return nil }
            return Self.handle(in: bytes, &position)
        }
        guard let handle else { throw Self.damaged(file, "it has no footer") }
        index = try Self.block(file, handle)
    }

    /// The size of the part in memory.
    var footprint: Int { index.bytes.count + Self.keptSize }

    static func damaged(_ file: ForeignFile, _ cause: String) -> ForeignFileError {
        ForeignFileError(.damaged, "\(file.name) is damaged: \(cause)")
    }

    /// The place and the size of a block.
    private static func handle(in bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Range<Int>? {
        guard let offset = VariableNumber.read(bytes, &position), let size = VariableNumber.read(bytes, &position),
            let start = Int(exactly: offset), let count = Int(exactly: size), count <= Int.max - start
        else { return nil }
        return start..<start + count
    }

    private static func block(_ file: ForeignFile, _ handle: Range<Int>) throws -> LevelBlock {
        let maximum = ForeignFile.maximumRecord + keptSize
        guard handle.upperBound <= file.size - trailerSize, handle.count <= maximum else {
            throw damaged(file, "a block is not within it")
        }
        var bytes = try file.read(at: handle.lowerBound, count: handle.count + trailerSize)
        let (sum, stored, kind) = bytes.withUnsafeBytes { bytes in
            (
                CRC32C.sum(UnsafeRawBufferPointer(rebasing: bytes[...handle.count])),
                FixedNumber.little(bytes, handle.count + 1, as: UInt32.self), bytes[handle.count]
            )
        }
        guard CRC32C.masked(sum) == stored else {
            throw damaged(file, "the checksum of the block at \(handle.lowerBound) differs")
        }
        switch kind {
        case 0: bytes.removeLast(trailerSize)
        case 1:
            let expanded = bytes.withUnsafeBytes { bytes in
                Snappy.expand(UnsafeRawBufferPointer(rebasing: bytes[..<handle.count]), limit: maximum)
            }
            guard let expanded else { throw damaged(file, "the block at \(handle.lowerBound) can't be expanded") }
            bytes = expanded
        default:
            throw ForeignFileError(
                .unsupported, "\(file.name) is compressed by a method that Settle doesn't read (\(kind))")
        }
        guard let block = LevelBlock(bytes) else {
            throw damaged(file, "the block at \(handle.lowerBound) is malformed")
        }
        return block
    }

    private func block(at handle: Range<Int>) throws -> LevelBlock {
        if let last, last.offset == handle.lowerBound { return last.block }
        let block = try Self.block(file, handle)
        last = block.bytes.count <= Self.keptSize ? (handle.lowerBound, block) : nil
        return block
    }

    /// Walks through the entries of the table in order, with one block in memory.
    struct Cursor {
        private let table: LevelTable
        private var index: LevelBlock.Cursor
        private var entries: LevelBlock.Cursor?
        /// The block of the entry at hand.
        private(set) var block: LevelBlock
        /// The key at hand.
        private(set) var key: [UInt8] = []
        /// The place of its value in the block.
        private(set) var value: Range<Int> = 0..<0
        private let start: [UInt8]

        /// Begins before the first entry whose key of the database is not below `start`.
        init(_ table: LevelTable, from start: [UInt8]) throws {
            (self.table, self.start, block) = (table, start, table.index)
            index = try table.seek(start, in: table.index)
        }

        /// Moves to the next entry.
        mutating func next() throws -> Bool {
            do {
                while true {
                    if try entries?.next() ?? false, let entry = entries?.entry {
                        guard entry.key.count >= 8 else { throw LevelBlock.Malformed() }
                        if LevelKey.precedes(entry.key.dropLast(8), start) { continue }
                        guard key.isEmpty || table.isAscending(key, entry.key) else {
                            throw LevelTable.damaged(table.file, "its keys are not in order")
                        }
                        (key, value) = (entry.key, entry.value)
                        return true
                    }
                    guard try index.next() else { return false }
                    let place = index.entry
                    guard place.key.count >= 8 else { throw LevelBlock.Malformed() }
                    if LevelKey.precedes(place.key.dropLast(8), start) { continue }
                    let handle = table.index.bytes.withUnsafeBytes { bytes in
                        var position = 0
                        return LevelTable.handle(in: UnsafeRawBufferPointer(rebasing: bytes[place.value]), &position)
                    }
                    guard let handle else { throw LevelBlock.Malformed() }
                    block = try table.block(at: handle)
                    entries = try table.seek(start, in: block)
                }
            } catch is LevelBlock.Malformed {
                throw LevelTable.damaged(table.file, "an entry is malformed")
            }
        }
    }

    private func seek(_ start: [UInt8], in block: LevelBlock) throws -> LevelBlock.Cursor {
        if start.isEmpty { return block.cursor }
        do {
            return try block.cursor { LevelKey.precedes($0.dropLast(8), start) }
        } catch { throw Self.damaged(file, "an entry is malformed") }
    }

    /// Whether a key comes before another: by the key of the database, and then the higher sequence first.
    private func isAscending(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let order = LevelKey.compare(left.dropLast(8), right.dropLast(8))
        if order != 0 { return order < 0 }
        guard let first = LevelKey(left), let second = LevelKey(right) else { return false }
        return first.sequence > second.sequence
    }
}
