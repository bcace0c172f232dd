import SettleImport

/// Parts of LevelDB's files. The first byte says which:
///
///     0 block    1 Snappy    2 log    3 batch    4 manifest
enum LevelTarget {
    static func run(_ bytes: [UInt8]) throws {
        guard let first = bytes.first else { return }
        let input = Array(bytes.dropFirst())
        switch first % 5 {
        case 0: try block(input)
        case 1:
            let limit = 1 << 20
            let content = input.withUnsafeBytes { Snappy.expand($0, limit: limit) }
            try require((content?.count ?? 0) <= limit, "the content is bounded")
        case 2: try log(input)
        case 3:
            for change in input.withUnsafeBytes({ LevelBatch.changes(in: $0) }) ?? [] {
                try require(change.key.upperBound <= input.count, "a key is within the record")
                try require(change.value?.upperBound ?? 0 <= input.count, "a value is within the record")
            }
        default:
            var manifest = LevelManifest()
            _ = input.withUnsafeBytes { manifest.apply($0) }
            try require(manifest.levels.count == 7, "there are seven levels")
        }
    }

    private static func block(_ bytes: [UInt8]) throws {
        guard let block = LevelBlock(bytes) else { return }
        do {
            var cursor = block.cursor
            var count = 0
            while try cursor.next() {
                count += 1
                try require(count <= bytes.count, "reading ends")
                try require(cursor.entry.value.upperBound <= bytes.count, "a value is within the block")
                try require(cursor.entry.key.count <= bytes.count, "a key is not longer than the block")
            }
            var found = try block.cursor { $0.lexicographicallyPrecedes([7, 7]) }
            while try found.next() {}
        } catch is LevelBlock.Malformed {}
    }

    private static func log(_ bytes: [UInt8]) throws {
        var log = LevelLog(bytes)
        var last = -1
        while let record = try log.next() {
            try require(record.position > last, "records follow one another")
            try require(record.bytes.count <= bytes.count, "a record is within the log")
            last = record.position
        }
        try require(log.unread <= bytes.count, "no more is left than there is")
    }
}
