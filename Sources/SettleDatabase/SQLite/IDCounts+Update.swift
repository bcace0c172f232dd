extension IDCounts {
    /// Brings the sums up to date with documents that came, went or are of another kind now.
    ///
    /// - Returns: Whether the sums had what went; otherwise they are damaged.
    /// - Complexity: O(*m* log *n*) for *m* changes.
    func update(_ changes: [(id: [UInt8], difference: KindCounts)]) throws -> Bool {
        let sorted = changes.filter { $0.difference != KindCounts() }
            .sorted { $0.id.precedes($1.id) }
        guard !sorted.isEmpty else { return true }
        var full: [(start: [UInt8], size: Int64)] = []
        for level in try 0...top() {
            var rest = sorted[...]
            while let first = rest.first {
                var (start, sums) = try range(of: first.id, level)
                let next = rest.count == 1 ? Self.end : try range(after: start, level)
                let inside = rest.prefix { $0.id.precedes(next) }
                rest = rest.dropFirst(inside.count)
                for change in inside { sums &+= change.difference }
                guard sums.min() >= 0 else { return false }
                try set(level, start, sums)
                if level == 0, sums.wrappedSum() > sizes.capacity { full.append((start, sums.wrappedSum())) }
            }
        }
        for (start, size) in full { try split(start, 0, size) }
        return true
    }

    /// Makes all sums anew.
    ///
    /// - Complexity: O(*n*).
    func rebuild() throws {
        try connection.statement(.removeIDs).run()
        let all = try entries(.any, from: [], to: Self.end)
        try set(0, [], contents(of: 0, from: [], to: Self.end, all))
        try split([], 0, all)
    }

    /// Makes smaller ranges of one that has too many parts, of about half the largest size, and sees to the level above.
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

    /// What the sums of a range have to be: those of the level below, or the documents as far as they are sealed. On level 0
    /// `size` is how many documents the range has, if that is known.
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

    /// The id, or the beginning of a range of the level below, that stands a number of steps after one.
    private func key(of level: Int64, from start: [UInt8], to end: [UInt8], _ steps: Int64) throws -> [UInt8]? {
        let statement = try connection.statement(level == 0 ? .idAt : .rangeAt)
        statement.bind(1, start)
        statement.bind(2, end)
        statement.bind(3, steps)
        if level > 0 { statement.bind(4, level - 1) }
        return try statement.first { $0.bytes(0) }
    }

    /// Where the range after one begins.
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
