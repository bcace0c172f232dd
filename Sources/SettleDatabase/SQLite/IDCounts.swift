internal import SettleCore
internal import SettlePlatform

/// Counts the documents of each kind whose ids are in a range, by sums that are stored in the file.
///
/// The ids, in the order of their bytes, are divided into ranges of at most 1,024. Each has a row with its numbers
/// of documents of each kind. If there are more than 512 ranges, they form larger ranges of the next level, and so
/// on. A range ends where the next of its level begins; the first of each level begins at the empty id.
///
///     level 1    │ "" : 262,140                                    │ "m-77" : 201,007
///     level 0    │ "" : 1,020 │ "a-33" : 600 │ … │ "m-50" : 731    │ "m-77" : 512 │ …
///     documents  │ a-1 a-2 …  │ a-33 a-34 …
///
/// The number of documents before an id is the sum of the whole ranges before it, level by level, and of the
/// entries that an index counts in the last range: at most 511 rows of each level and 1,023 entries. The sums
/// include the documents up to the last sealed sequence; documents written since are added one by one.
struct IDCounts {
    let connection: SQLiteConnection
    let sizes: CountSizes
    /// The last sequence that the sums include.
    let sealed: Int64

    /// A key above all ids, since UTF-8 never contains this byte.
    static let end = DocumentRange.end

    /// The number of documents of a kind whose ids are in a half-open range.
    ///
    /// - Complexity: O(log *n*).
    func count(_ kind: DocumentKind, from low: [UInt8], to high: [UInt8]) throws -> Int64 {
        guard low.precedes(high) else { return 0 }
        let (first, last) = try (border(of: low), border(of: high))
        if first.start == last.start { return try entries(kind, from: low, to: high) }
        let whole = try last.before &- first.before &+ difference(from: first.start, to: last.start)
        return try kind.number(in: whole) &+ entries(kind, from: last.start, to: high)
            &- entries(kind, from: first.start, to: low)
    }

    /// The start of the range that contains an id, and the sums of all ranges before it.
    private func border(of id: [UInt8]) throws -> (start: [UInt8], before: KindCounts) {
        if id.isEmpty { return ([], KindCounts()) }
        if id == Self.end { return try (Self.end, sum(of: top(), from: [], to: Self.end)) }
        var (total, start) = (KindCounts(), [UInt8]())
        for level in try (0...top()).reversed() {
            let next = try range(of: id, level).start
            if next != start { total &+= try sum(of: level, from: start, to: next) }
            start = next
        }
        return (start, total)
    }

    /// The difference between the current numbers of documents and the sums of whole ranges.
    func difference(from start: [UInt8], to end: [UInt8]) throws -> KindCounts {
        var sum = KindCounts()
        let statement = try connection.statement(.writtenDocuments)
        statement.bind(1, sealed)
        statement.bind(2, .max)
        while try statement.step() {
            let isInside = statement.withBytes(0) { id in
                (start.isEmpty || !id.precedes(start)) && (end == Self.end || id.precedes(end))
            }
            if isInside { sum &+= CountedDocument.difference(statement) }
        }
        return sum
    }

    /// The highest level.
    func top() throws -> Int64 { try connection.statement(.topOfIDs).first { $0.integer(0) } ?? 0 }

    /// The start and the sums of the range of a level that contains an id.
    func range(of id: [UInt8], _ level: Int64) throws -> (start: [UInt8], sums: KindCounts) {
        let statement = try connection.statement(.rangeOfID)
        statement.bind(1, level)
        statement.bind(2, id)
        return try statement.first { ($0.bytes(0), KindCounts($0, from: 1)) } ?? ([], KindCounts())
    }

    /// The sum of whole ranges of a level.
    func sum(of level: Int64, from start: [UInt8], to end: [UInt8]) throws -> KindCounts {
        let statement = try connection.statement(.sumOfIDs)
        statement.bind(1, level)
        statement.bind(2, start)
        statement.bind(3, end)
        return try statement.first { KindCounts($0, from: 0) } ?? KindCounts()
    }

    /// The number of documents of a kind, counted one by one in an index.
    func entries(_ kind: DocumentKind, from start: [UInt8], to end: [UInt8]) throws -> Int64 {
        guard start.precedes(end) else { return 0 }
        switch kind {
        case .any: return try entries(nil, start, end)
        case .live: return try entries(nil, start, end) - entries(.deleted, start, end)
        case .flagged(let flags): return try entries(flags, start, end)
        }
    }

    private func entries(_ flags: RecordFlags?, _ start: [UInt8], _ end: [UInt8]) throws -> Int64 {
        let statement = try connection.statement(flags == nil ? .countIDs : .countFlaggedIDs)
        statement.bind(1, start)
        statement.bind(2, end)
        if let flags { statement.bind(3, flags.rawValue) }
        return try statement.first { $0.integer(0) } ?? 0
    }
}

extension IDCounts {
    /// The id of the live document at a rank, counted from 0; `nil` if there are fewer.
    ///
    /// - Complexity: O(log *n*).
    func liveID(at rank: Int64) throws -> DocumentID? {
        var (start, end, left) = ([UInt8](), Self.end, rank)
        for level in try (0...top()).reversed() {
            guard let found = try liveRange(at: left, level, from: start, to: end) else { return nil }
            (start, end, left) = found
        }
        let statement = try connection.statement(.liveIDAt)
        statement.bind(1, start)
        statement.bind(2, end)
        statement.bind(3, left)
        return try statement.first { try $0.id(0) }
    }

    /// The range of a level that contains the live document at a rank.
    private func liveRange(
        at rank: Int64, _ level: Int64, from start: [UInt8], to end: [UInt8]
    ) throws -> (start: [UInt8], end: [UInt8], left: Int64)? {
        let kind = DocumentKind.live
        let statement = try connection.statement(.rangesOfIDs)
        statement.bind(1, level)
        statement.bind(2, start)
        statement.bind(3, end)
        let ranges = try statement.all { ($0.bytes(0), kind.number(in: KindCounts($0, from: 1))) }
        var changes = try SequenceCounts(connection: connection, sizes: sizes).written(after: sealed).map {
            (id: $0.id, number: kind.number(in: $0.difference))
        }
        .filter { $0.number != 0 && !$0.id.precedes(start) }
        .sorted { $0.id.precedes($1.id) }[...]
        var left = rank
        for (index, range) in ranges.enumerated() {
            let next = index + 1 < ranges.count ? ranges[index + 1].0 : end
            let inside = changes.prefix { $0.id.precedes(next) }
            changes = changes.dropFirst(inside.count)
            let size = inside.reduce(range.1) { $0 &+ $1.number }
            if left < size { return (range.0, next, left) }
            left &-= size
        }
        return nil
    }
}

/// The numbers of documents of each kind, indexed by the number of ``RecordFlags``.
typealias KindCounts = SIMD4<Int64>

extension KindCounts {
    /// Reads four columns of a row.
    init(_ row: SQLiteStatement, from column: Int32) {
        self.init(
            row.integer(column), row.integer(column + 1), row.integer(column + 2), row.integer(column + 3))
    }
}

extension DocumentKind {
    /// The number of documents of this kind.
    func number(in counts: KindCounts) -> Int64 {
        switch self {
        case .any: counts.wrappedSum()
        case .live: counts.wrappedSum() &- counts[Int(RecordFlags.deleted.rawValue)]
        case .flagged(let flags): counts[Int(flags.rawValue)]
        }
    }
}

// MARK: - Update

extension IDCounts {
    /// Updates the sums for documents that were added, removed, or changed in kind.
    ///
    /// - Returns: Whether the sums contained the removed documents; if not, the sums are damaged.
    /// - Complexity: O(*m* log *n*) for *m* changes.
    func update(_ changes: [(id: [UInt8], difference: KindCounts)]) throws -> Bool {
        var sorted = changes
        sorted.removeAll { $0.difference == KindCounts() }
        sorted.sort { $0.id.precedes($1.id) }
        guard !sorted.isEmpty else { return true }
        var full: [(start: [UInt8], size: Int64)] = []
        for level in try 0...top() {
            var rest = sorted[...]
            while let first = rest.first {
                var (start, sums) = try range(of: first.id, level)
                let next = rest.count == 1 ? Self.end : try range(after: start, level)
                while let change = rest.first, change.id.precedes(next) {
                    sums &+= change.difference
                    rest.removeFirst()
                }
                guard sums.min() >= 0, sums.max() <= CountSizes.maximum else { return false }
                try set(level, start, sums)
                if level == 0, sums.wrappedSum() > sizes.capacity { full.append((start, sums.wrappedSum())) }
            }
        }
        for (start, size) in full { try split(start, 0, size) }
        return true
    }

    /// Computes all sums again.
    ///
    /// - Complexity: O(*n*).
    func rebuild() throws {
        try connection.statement(.removeIDs).run()
        let all = try entries(.any, from: [], to: Self.end)
        try set(0, [], contents(of: 0, from: [], to: Self.end, all))
        try split([], 0, all)
    }

    /// Splits a range that has too many parts into ranges of about half the maximum size, and then checks the level
    /// above.
    private func split(_ first: [UInt8], _ level: Int64, _ size: Int64) throws {
        let most = level == 0 ? sizes.capacity : sizes.fan
        guard size > most else { return }
        let end = try range(after: first, level)
        let step = (size - 1) / max(2, size * 2 / most) + 1
        var start = first
        while start != end {
            let next = try key(of: level, from: start, to: end, step)
            let whole = next == nil ? nil : step
            try set(level, start, contents(of: level, from: start, to: next ?? end, whole))
            start = next ?? end
        }
        let above = level + 1
        if try top() == level {
            guard try ranges(of: level, from: [], to: Self.end) > sizes.fan else { return }
            try set(above, [], sum(of: level, from: [], to: Self.end))
        }
        let parent = try range(of: first, above).start
        try split(parent, above, ranges(of: level, from: parent, to: range(after: parent, above)))
    }

    /// The correct sums of a range: those of the level below, or the documents up to the last sealed sequence. On
    /// level 0, `size` is the range's number of documents, if known.
    private func contents(
        of level: Int64, from start: [UInt8], to end: [UInt8], _ size: Int64?
    ) throws -> KindCounts {
        if level > 0 { return try sum(of: level - 1, from: start, to: end) }
        var counts = KindCounts()
        for flags in [RecordFlags.deleted, .conflicted, .contested] {
            counts[Int(flags.rawValue)] = try entries(.flagged(flags), from: start, to: end)
        }
        counts[0] = try (size ?? entries(.any, from: start, to: end)) - counts.wrappedSum()
        return try counts &- difference(from: start, to: end)
    }

    private func ranges(of level: Int64, from start: [UInt8], to end: [UInt8]) throws -> Int64 {
        let statement = try connection.statement(.countRanges)
        statement.bind(1, level)
        statement.bind(2, start)
        statement.bind(3, end)
        return try statement.first { $0.integer(0) } ?? 0
    }

    /// The id, or the start of a range of the level below, that is a number of steps after another one.
    private func key(of level: Int64, from start: [UInt8], to end: [UInt8], _ steps: Int64) throws -> [UInt8]? {
        let statement = try connection.statement(level == 0 ? .idAt : .rangeAt)
        statement.bind(1, start)
        statement.bind(2, end)
        statement.bind(3, steps)
        if level > 0 { statement.bind(4, level - 1) }
        return try statement.first { $0.bytes(0) }
    }

    /// The start of the range after another one.
    private func range(after start: [UInt8], _ level: Int64) throws -> [UInt8] {
        let statement = try connection.statement(.rangeAfterID)
        statement.bind(1, level)
        statement.bind(2, start)
        return try statement.first { $0.bytes(0) } ?? Self.end
    }

    private func set(_ level: Int64, _ start: [UInt8], _ sums: KindCounts) throws {
        let statement = try connection.statement(.setIDs)
        statement.bind(1, level)
        statement.bind(2, start)
        for kind in sums.indices { statement.bind(Int32(3 + kind), sums[kind]) }
        try statement.run()
    }
}
