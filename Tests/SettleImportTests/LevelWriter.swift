import Foundation
import SettlePlatform

@testable import SettleImport

/// Writes databases of LevelDB: tables, logs and a manifest.
struct LevelWriter {
    /// A change: a value, or `nil` for a deletion.
    typealias Change = (key: [UInt8], value: [UInt8]?)

    let folder: URL
    var comparator = "leveldb.BytewiseComparator"
    private(set) var sequence: UInt64 = 0
    private var nextFile: UInt64 = 3
    private var edits: [UInt8] = []

    init(_ folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// A folder that is removed afterwards.
    static func withFolder<Result>(_ use: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "level-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try use(folder)
    }

    // MARK: - Tables

    /// Writes changes as a table of a level.
    mutating func table(
        level: Int, _ changes: [Change], blockSize: Int, _ random: inout some RandomNumberGenerator
    ) throws {
        var entries: [(key: [UInt8], value: [UInt8])] = []
        for change in changes {
            sequence += 1
            entries.append((Self.key(change.key, sequence, isValue: change.value != nil), change.value ?? []))
        }
        entries.sort {
            let (left, right) = ($0.key.dropLast(8), $1.key.dropLast(8))
            if left.elementsEqual(right) { return Self.tag($0.key) > Self.tag($1.key) }
            return left.lexicographicallyPrecedes(right)
        }
        guard let first = entries.first, let last = entries.last else { return }
        var file: [UInt8] = []
        var index: [(key: [UInt8], value: [UInt8])] = []
        var block: [(key: [UInt8], value: [UInt8])] = []
        for (number, entry) in entries.enumerated() {
            block.append(entry)
            let size = block.reduce(0) { $0 + $1.key.count + $1.value.count }
            if size >= blockSize || number == entries.count - 1 {
                index.append((entry.key, Self.append(Self.block(block, every: 16), to: &file, &random)))
                block = []
            }
        }
        let meta = Self.append(Self.block([], every: 1), to: &file, &random)
        var footer = meta + Self.append(Self.block(index, every: 1), to: &file, &random)
        footer += [UInt8](repeating: 0, count: 40 - footer.count) + [0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB]
        file += footer
        let number = nextFile
        nextFile += 1
        let name = String(format: "%06llu.", number) + (Bool.random(using: &random) ? "ldb" : "sst")
        try Data(file).write(to: folder.appending(path: name))
        edits += [7, UInt8(level)]
        VariableNumber.append(number, to: &edits)
        VariableNumber.append(file.count, to: &edits)
        Self.append(first.key, to: &edits)
        Self.append(last.key, to: &edits)
    }

    private static func tag(_ key: [UInt8]) -> UInt64 { key.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }

    private static func key(_ key: [UInt8], _ sequence: UInt64, isValue: Bool) -> [UInt8] {
        key + little(sequence << 8 | (isValue ? 1 : 0), count: 8)
    }

    static func little(_ number: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }

    private static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
        VariableNumber.append(text.count, to: &bytes)
        bytes += text
    }

    /// A block of sorted entries.
    static func block(_ entries: [(key: [UInt8], value: [UInt8])], every interval: Int) -> [UInt8] {
        var (bytes, restarts, last): ([UInt8], [Int], [UInt8]) = ([], [0], [])
        for (number, entry) in entries.enumerated() {
            var shared = 0
            if number % interval == 0 {
                if number > 0 { restarts.append(bytes.count) }
            } else {
                while shared < min(last.count, entry.key.count), last[shared] == entry.key[shared] { shared += 1 }
            }
            VariableNumber.append(shared, to: &bytes)
            VariableNumber.append(entry.key.count - shared, to: &bytes)
            VariableNumber.append(entry.value.count, to: &bytes)
            bytes += entry.key[shared...] + entry.value
            last = entry.key
        }
        for restart in restarts { bytes += little(UInt64(restart), count: 4) }
        return bytes + little(UInt64(restarts.count), count: 4)
    }

    /// Appends a block with its checksum.
    ///
    /// - Returns: Its place and size.
    private static func append(
        _ block: [UInt8], to file: inout [UInt8], _ random: inout some RandomNumberGenerator
    ) -> [UInt8] {
        let isCompressed = Bool.random(using: &random)
        let data = isCompressed ? snappy(block) : block
        var handle: [UInt8] = []
        VariableNumber.append(file.count, to: &handle)
        VariableNumber.append(data.count, to: &handle)
        let checked = data + [isCompressed ? 1 : 0]
        file += checked + little(UInt64(CRC32C.masked(checked.withUnsafeBytes { CRC32C.sum($0) })), count: 4)
        return handle
    }

    /// Compresses bytes: what four bytes began before is copied.
    static func snappy(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        VariableNumber.append(bytes.count, to: &output)
        var places: [[UInt8]: Int] = [:]
        var (position, pending) = (0, 0)
        func flush() {
            var start = pending
            while start < position {
                let count = min(position - start, 70_000)
                switch count {
                case ...60: output.append(UInt8(count - 1) << 2)
                case ...256: output += [60 << 2, UInt8(count - 1)]
                case ...65_536: output += [61 << 2] + little(UInt64(count - 1), count: 2)
                default: output += [62 << 2] + little(UInt64(count - 1), count: 3)
                }
                output += bytes[start..<start + count]
                start += count
            }
        }
        while position < bytes.count {
            let four = Array(bytes[position..<min(position + 4, bytes.count)])
            guard four.count == 4, let place = places.updateValue(position, forKey: four) else {
                position += 1
                continue
            }
            var count = 4
            while count < 64, position + count < bytes.count, bytes[place + count] == bytes[position + count] {
                count += 1
            }
            flush()
            let offset = position - place
            if count <= 11, offset < 2048 {
                output += [UInt8(offset >> 8) << 5 | UInt8(count - 4) << 2 | 1, UInt8(truncatingIfNeeded: offset)]
            } else if offset < 65_536 {
                output += [UInt8(count - 1) << 2 | 2] + little(UInt64(offset), count: 2)
            } else {
                output += [UInt8(count - 1) << 2 | 3] + little(UInt64(offset), count: 4)
            }
            position += count
            pending = position
        }
        flush()
        return output
    }

    // MARK: - Logs

    /// A log of records.
    static func log(_ records: [[UInt8]]) -> [UInt8] {
        var file: [UInt8] = []
        for record in records {
            var (rest, isFirst) = (record[...], true)
            repeat {
                var room = LevelLog.blockSize - file.count % LevelLog.blockSize
                if room < 7 {
                    file += [UInt8](repeating: 0, count: room)
                    room = LevelLog.blockSize
                }
                let part = rest.prefix(room - 7)
                rest = rest.dropFirst(part.count)
                let kind: UInt8 = isFirst ? (rest.isEmpty ? 1 : 2) : (rest.isEmpty ? 4 : 3)
                isFirst = false
                let checked = [kind] + part
                file += little(UInt64(CRC32C.masked(checked.withUnsafeBytes { CRC32C.sum($0) })), count: 4)
                file += little(UInt64(part.count), count: 2) + checked
            } while !rest.isEmpty
        }
        return file
    }

    /// Ends the database with a log of batches, and returns its URL.
    mutating func finish(_ batches: [[Change]]) throws -> URL {
        let records = batches.map { batch in
            var record = Self.little(sequence + 1, count: 8) + Self.little(UInt64(batch.count), count: 4)
            for change in batch {
                record.append(change.value == nil ? 0 : 1)
                Self.append(change.key, to: &record)
                if let value = change.value { Self.append(value, to: &record) }
            }
            sequence += UInt64(batch.count)
            return record
        }
        let log = folder.appending(path: String(format: "%06llu.log", nextFile))
        try Data(Self.log(records)).write(to: log)
        var head: [UInt8] = [1]
        Self.append(Array(comparator.utf8), to: &head)
        var end: [UInt8] = [2]
        VariableNumber.append(nextFile, to: &end)
        end += [9, 0, 3]
        VariableNumber.append(nextFile + 1, to: &end)
        end.append(4)
        VariableNumber.append(sequence, to: &end)
        try Data(Self.log([head, edits, end])).write(to: folder.appending(path: "MANIFEST-000002"))
        try Data("MANIFEST-000002\n".utf8).write(to: folder.appending(path: "CURRENT"))
        try Data().write(to: folder.appending(path: "LOCK"))
        return log
    }
}
