import Foundation
import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleImport

@Suite struct LevelDatabaseTests {
    /// A database with random changes in tables of all levels and in a log, and what it holds.
    private func make(_ folder: URL, seed: UInt64) throws -> [[UInt8]: [UInt8]] {
        var random = SeededRandom(seed: seed)
        var expected: [[UInt8]: [UInt8]] = [:]
        func changes(_ count: Int, keys: Range<Int>) -> [LevelWriter.Change] {
            (0..<count).map { _ in
                let key = Array(
                    "\(["a", "b", "b\u{FF}"].randomElement(using: &random) ?? "")\(Int.random(in: keys, using: &random))"
                        .utf8)
                let length = Int.random(in: 0..<5, using: &random) == 0 ? 40_000 : 300
                let value = (0..<Int.random(in: 0..<length, using: &random)).map { UInt8(truncatingIfNeeded: $0 / 7) }
                return (key, Int.random(in: 0..<4, using: &random) == 0 ? nil : value)
            }
        }
        func apply(_ changes: [LevelWriter.Change]) { for change in changes { expected[change.key] = change.value } }
        var writer = try LevelWriter(folder)
        // Old levels first: their sequences are lower.
        for level in [6, 2, 1] {
            var all = changes(Int.random(in: 1..<120, using: &random), keys: 0..<60)
            apply(all)
            // Tables of a level don't overlap.
            all = all.enumerated().sorted {
                ($0.element.key, $0.offset).0.lexicographicallyPrecedes($1.element.key)
                    || ($0.element.key == $1.element.key && $0.offset < $1.offset)
            }.map(\.element)
            let middle = all[all.count / 2].key
            for part in [
                all.filter { $0.key.lexicographicallyPrecedes(middle) },
                all.filter { !$0.key.lexicographicallyPrecedes(middle) },
            ] {
                try writer.table(level: level, part, blockSize: 500, &random)
            }
        }
        for _ in 0..<3 {
            let some = changes(Int.random(in: 0..<60, using: &random), keys: 0..<60)
            apply(some)
            try writer.table(level: 0, some, blockSize: 4096, &random)
        }
        let batches = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
            changes(Int.random(in: 0..<20, using: &random), keys: 0..<60)
        }
        for batch in batches { apply(batch) }
        _ = try writer.finish(batches)
        return expected
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a database holds what was written last`(seed: UInt64) throws {
        try LevelWriter.withFolder { folder in
            let expected = try make(folder, seed: seed)
            let database = try LevelDatabase(folder)
            var found: [[UInt8]: [UInt8]] = [:]
            var order: [[UInt8]] = []
            try database.forEach(prefix: []) { key, value in
                order.append(Array(key))
                found[Array(key)] = try value()
            }
            #expect(found == expected, "seed \(seed)")
            #expect(order == order.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
            for number in 0..<60 {
                for letter in ["a", "b", "b\u{FF}", "c"] {
                    let key = Array("\(letter)\(number)".utf8)
                    #expect(try database.value(of: key) == expected[key], "\(letter)\(number) with seed \(seed)")
                }
            }
            var some: [[UInt8]] = []
            try database.forEach(prefix: Array("b".utf8)) { key, _ in some.append(Array("b".utf8) + key) }
            #expect(
                some == expected.keys.filter { $0.starts(with: "b".utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
            #expect(database.unread.isEmpty)
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `a damaged database gives no wrong value`(seed: UInt64) throws {
        try LevelWriter.withFolder { folder in
            let expected = try make(folder, seed: seed % 3)
            var random = SeededRandom(seed: seed)
            try FixtureFiles.damage(folder, &random)
            do {
                let database = try LevelDatabase(folder)
                // A log that ends early leaves older values; they are reported.
                guard database.unread.isEmpty else { return }
                try database.forEach(prefix: []) { key, value in
                    let value = try value()
                    #expect(expected[Array(key)] == value, "seed \(seed)")
                }
            } catch is ForeignFileError {}
        }
    }

    @Test func `a log that was cut gives what is whole, and says so`() throws {
        try LevelWriter.withFolder { folder in
            var writer = try LevelWriter(folder)
            let long = [UInt8](repeating: 7, count: 100_000)
            let log = try writer.finish([[(Array("a".utf8), [1])], [(Array("b".utf8), long)], [(Array("c".utf8), [3])]])
            let bytes = try Data(contentsOf: log)
            var counts: Set<Int> = []
            for length in Array(stride(from: 0, through: bytes.count, by: 1501)) + [bytes.count - 1, bytes.count] {
                try bytes.prefix(length).write(to: log)
                let database = try LevelDatabase(folder)
                var values: [[UInt8]] = []
                try database.forEach(prefix: []) { _, value in values.append(try value()) }
                #expect([[], [[1]], [[1], long], [[1], long, [3]]].contains(values))
                #expect(database.unread.count <= 1)
                counts.insert(values.count)
            }
            #expect(counts.isSuperset(of: [0, 1, 2]))
        }
    }

    @Test func `other orders of keys are refused`() throws {
        for (name, words) in [("idb_cmp1", "IndexedDB of Chromium"), ("mine", "an order of its own (mine)")] {
            try LevelWriter.withFolder { folder in
                var writer = try LevelWriter(folder)
                writer.comparator = name
                _ = try writer.finish([])
                #expect { try LevelDBReader.reader(at: folder) } throws: { "\($0)".contains(words) }
            }
        }
    }

    @Test func `a LevelDB of another program is refused`() throws {
        try LevelWriter.withFolder { folder in
            var writer = try LevelWriter(folder)
            _ = try writer.finish([[(Array("a".utf8), [1])]])
            #expect { try LevelDBReader.reader(at: folder) } throws: { "\($0)".contains("not one of PouchDB") }
        }
    }

    @Test func `a missing log and a missing table are named`() throws {
        try LevelWriter.withFolder { folder in
            var writer = try LevelWriter(folder)
            var random = SeededRandom(seed: 1)
            try writer.table(level: 1, [(Array("a".utf8), [1])], blockSize: 100, &random)
            let log = try writer.finish([])
            for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasPrefix("000003")
            {
                try FileManager.default.removeItem(at: folder.appending(path: file))
            }
            #expect { try LevelDatabase(folder).value(of: Array("a".utf8)) } throws: {
                ($0 as? ForeignFileError)?.code == .missing && "\($0)".contains("000003")
            }
            try FileManager.default.removeItem(at: log)
            #expect { try LevelDatabase(folder) } throws: { "\($0)".contains("000004.log is not in") }
        }
    }

    #if os(Linux)
    @Test func `a database that is open elsewhere is refused`() throws {
        try LevelWriter.withFolder { folder in
            var writer = try LevelWriter(folder)
            _ = try writer.finish([])
            let descriptor = open(folder.appending(path: "LOCK").path, O_RDWR)
            defer { close(descriptor) }
            // A lock of an open file (F_OFD_SETLK), which is foreign to the process's own.
            var lock = flock()
            (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
            try #require(fcntl(descriptor, 37, &lock) == 0)
            #expect { try LevelDatabase(folder) } throws: { ($0 as? ForeignFileError)?.code == .inUse }
        }
    }
    #endif

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `bytes that are compressed expand to themselves`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let alphabet = Int.random(in: 1...40, using: &random)
        let count = Int.random(in: 0..<90_000, using: &random)
        let bytes = random.bytes(count, below: alphabet)
        let compressed = LevelWriter.snappy(bytes)
        #expect(compressed.withUnsafeBytes { Snappy.expand($0, limit: count) } == bytes, "seed \(seed)")
        #expect(compressed.withUnsafeBytes { Snappy.expand($0, limit: count - 1) } == nil, "seed \(seed)")
        let cut = compressed.dropLast()
        #expect(Array(cut).withUnsafeBytes { Snappy.expand($0, limit: count) } == nil, "seed \(seed)")
    }

    @Test func `the checksum is that of the standard`() {
        #expect(Array("123456789".utf8).withUnsafeBytes { CRC32C.sum($0) } == 0xE306_9283)
        #expect([UInt8](repeating: 0, count: 32).withUnsafeBytes { CRC32C.sum($0) } == 0x8A91_36AA)
        let bytes = (0..<100).map { UInt8($0) }
        let parts = bytes.withUnsafeBytes { bytes in
            CRC32C.sum(
                UnsafeRawBufferPointer(rebasing: bytes[37...]),
                after: CRC32C.sum(UnsafeRawBufferPointer(rebasing: bytes[..<37])))
        }
        #expect(bytes.withUnsafeBytes { CRC32C.sum($0) } == parts)
    }
}
