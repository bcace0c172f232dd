internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleQuery

/// Writes documents' emissions to an index, one transaction per batch.
///
/// Changes of a view are sorted and merged into its chunks, from the lowest up. A chunk that becomes too large is
/// split into several, and a small one is joined with its successor:
///
///     chunks    [a c e] [h k m]           changes   +b  −e  +f
///     written   [a b c f] [h k m]
final class IndexWriter: IndexWriting {
    let connection: SQLiteConnection
    private let definitions: [ViewDefinition]
    private let directory: ChunkDirectory
    private(set) var state: IndexState

    private let positions: SQLiteStatement
    private let putPositions: SQLiteStatement
    private let removePositions: SQLiteStatement
    private let rowsOf: SQLiteStatement
    private let putRows: SQLiteStatement
    private let removeRows: SQLiteStatement
    private let putState: SQLiteStatement
    private var nextNumber: Int64

    init(_ connection: SQLiteConnection, definitions: [ViewDefinition], sizes: LevelSizes = LevelSizes()) throws {
        self.connection = connection
        self.definitions = definitions
        directory = ChunkDirectory(statements: IndexStatements(connection), sizes: sizes)
        state = try IndexState(connection)
        func statement(_ sql: String) throws -> SQLiteStatement { try SQLiteStatement(sql, on: connection) }
        positions = try statement("SELECT positions FROM documents WHERE id = ?1")
        putPositions = try statement("INSERT OR REPLACE INTO documents(id, positions) VALUES(?1, ?2)")
        removePositions = try statement("DELETE FROM documents WHERE id = ?1")
        rowsOf = try statement("SELECT rows FROM chunks WHERE number = ?1")
        putRows = try statement("INSERT OR REPLACE INTO chunks(number, rows) VALUES(?1, ?2)")
        removeRows = try statement("DELETE FROM chunks WHERE number = ?1")
        putState = try statement("INSERT OR REPLACE INTO state(name, value) VALUES(?1, ?2)")
        nextNumber = (try connection.integer("SELECT max(number) FROM chunks") ?? 0) + 1
    }

    func apply(_ changes: [IndexChange], reaching state: IndexState) throws {
        try connection.transact {
            var rows = [[RowChange]](repeating: [], count: definitions.count)
            for change in changes { try replace(change, in: &rows) }
            for view in definitions.indices where !rows[view].isEmpty {
                rows[view].sort { RowPosition.isBefore($0.position, $1.position) }
                try merge(rows[view], into: view)
            }
            if state != self.state { try state.store(with: putState) }
        }
        self.state = state
    }

    /// Removes all rows.
    func clear(_ state: IndexState) throws {
        try connection.transact {
            try connection.execute("DELETE FROM documents; DELETE FROM directory; DELETE FROM chunks")
            try state.store(with: putState)
        }
        self.state = state
    }

    /// Replaces a document's rows.
    private func replace(_ change: IndexChange, in rows: inout [[RowChange]]) throws {
        positions.bind(1, utf8: change.id.string)
        let old = try positions.first { $0.bytes(0) }
        for place in try old.map(Self.positions) ?? [] where place.view < rows.count {
            rows[place.view].append(RowChange(position: place.position, row: nil))
        }
        guard !change.emissions.isEmpty else {
            guard old != nil else { return }
            removePositions.bind(1, utf8: change.id.string)
            return try removePositions.run()
        }
        var packed: [UInt8] = []
        for row in DocumentRows(change.emissions, definitions).rows {
            let emission = row.emission
            let position = RowPosition.make(key: row.key, id: change.id, number: row.number)
            VariableNumber.append(emission.view, to: &packed)
            VariableNumber.append(position.count, to: &packed)
            packed += position
            let bytes = RowChunk.row(position: position, key: emission.key, id: change.id, value: emission.value)
            rows[emission.view].append(RowChange(position: position, row: bytes))
        }
        guard packed != old else { return }
        putPositions.bind(1, utf8: change.id.string)
        putPositions.bind(2, packed)
        try putPositions.run()
    }

    private static func positions(_ packed: [UInt8]) throws -> [(view: Int, position: [UInt8])] {
        var all: [(Int, [UInt8])] = []
        let isRead = packed.withUnsafeBytes { raw -> Bool in
            var place = 0
            while place < raw.count {
                guard let view = VariableNumber.read(raw, &place).flatMap({ Int(exactly: $0) }),
                    let length = VariableNumber.readLength(raw, &place)
                else { return false }
                all.append((view, Array(raw[place..<place + length])))
                place += length
            }
            return true
        }
        guard isRead else { throw DatabaseError(.corrupt, "a part of an index can't be read") }
        return all
    }

    /// Merges sorted changes into the chunks of a view.
    private func merge(_ changes: [RowChange], into view: Int) throws {
        var next = 0
        var changed: [[UInt8]] = []
        var written: [(first: [UInt8], number: Int64, chunk: RowChunk)] = []
        while next < changes.count {
            let old = try entry(for: changes[next].position, of: view)
            let limit = try old.flatMap { try directory.next(view, 0, after: $0.first) }
            var end = next
            while end < changes.count, limit.map({ RowPosition.isBefore(changes[end].position, $0.first) }) ?? true {
                end += 1
            }
            let chunk = try old.map { try read($0.number) } ?? .empty
            var rows = Self.merged(chunk, changes[next..<end])
            next = end
            if let old {
                try remove(old, of: view)
                changed.append(old.first)
            }
            // Small chunks are joined with the next one, unless that one has changes itself.
            if !rows.isEmpty, let limit, rows.reduce(0, { $0 + $1.count }) < RowChunk.length / 4,
                next == changes.count
            {
                let follower = try read(limit.number)
                rows += follower.rows.map { follower.bytes[$0.whole] }
                try remove(limit, of: view)
                changed.append(limit.first)
            }
            var number = old?.number
            for piece in try Self.cut(rows) {
                let place = number ?? nextNumber
                if number == nil { nextNumber += 1 }
                number = nil
                putRows.bind(1, place)
                putRows.bind(2, piece.bytes)
                try putRows.run()
                written.append((Array(piece.position(0)), place, piece))
            }
        }
        let reductions = try reduce(written.map(\.chunk), of: view)
        for (piece, reductions) in zip(written, reductions) {
            let entry = DirectoryEntry(first: piece.first, number: piece.number, count: piece.chunk.count)
            try directory.put(view, 0, entry, reductions)
        }
        try directory.update(view, changed + written.map(\.first), by: definitions[view].reducers)
    }

    /// The reductions of each chunk, by all reduce functions of a view.
    private func reduce(_ chunks: [RowChunk], of view: Int) throws -> [PackedReductions] {
        var packed = [PackedReductions](repeating: PackedReductions(), count: chunks.count)
        let reducers = definitions[view].reducers
        // In batches that fit into one request.
        var start = 0
        while start < chunks.count, !reducers.isEmpty {
            let end = min(start + 64, chunks.count)
            let counted = chunks[start..<end]
            let groups = reducers.allSatisfy { $0 is CountReducer } ? [] : counted.map { $0.indexRows(0..<$0.count) }
            for reducer in reducers {
                let values =
                    reducer is CountReducer
                    ? counted.map { CountReducer.value($0.count) } : try reducer.reduce(groups)
                for (offset, value) in values.enumerated() where start + offset < end {
                    packed[start + offset].append(value)
                }
            }
            start = end
        }
        return packed
    }

    /// The chunk for a position; `nil` if there are no chunks.
    private func entry(for position: [UInt8], of view: Int) throws -> DirectoryEntry? {
        try directory.last(view, 0, upTo: position) ?? directory.next(view, 0, after: position)
    }

    private func read(_ number: Int64) throws -> RowChunk {
        rowsOf.bind(1, number)
        guard let bytes = try rowsOf.first({ $0.bytes(0) }) else {
            throw DatabaseError(.corrupt, "a part of an index is missing")
        }
        return try RowChunk(bytes)
    }

    private func remove(_ entry: DirectoryEntry, of view: Int) throws {
        try directory.remove(view, 0, entry.first)
        removeRows.bind(1, entry.number)
        try removeRows.run()
    }

    /// Applies changes to a chunk's rows. If a row is removed and added, the new one is kept.
    private static func merged(_ chunk: RowChunk, _ changes: ArraySlice<RowChange>) -> [ArraySlice<UInt8>] {
        var rows: [ArraySlice<UInt8>] = []
        rows.reserveCapacity(chunk.count + changes.count)
        var index = 0
        var change = changes.startIndex
        while change < changes.endIndex {
            let position = changes[change].position
            while index < chunk.count, RowPosition.isBefore(chunk.position(index), position) {
                rows.append(chunk.bytes[chunk.rows[index].whole])
                index += 1
            }
            if index < chunk.count, chunk.position(index).elementsEqual(position) { index += 1 }
            var row: [UInt8]?
            while change < changes.endIndex, changes[change].position == position {
                row = changes[change].row ?? row
                change += 1
            }
            if let row { rows.append(row[...]) }
        }
        while index < chunk.count {
            rows.append(chunk.bytes[chunk.rows[index].whole])
            index += 1
        }
        return rows
    }

    /// Splits rows into chunks of about the right length. Rows of one document and one key stay in one chunk, so
    /// that they can be read upward while other rows are read downward.
    private static func cut(_ rows: [ArraySlice<UInt8>]) throws -> [RowChunk] {
        var chunks: [RowChunk] = []
        var bytes: [UInt8] = []
        var count = 0
        let total = rows.reduce(0) { $0 + $1.count }
        // Pieces of equal length, rather than full ones and a small rest.
        let pieces = max((total + RowChunk.length - 1) / RowChunk.length, 1)
        let length = total / pieces + 1
        for row in rows {
            if count > 0, bytes.count >= length || count >= RowChunk.maximumRows, RowChunk.beginsGroup(row) {
                chunks.append(try RowChunk(bytes))
                bytes.removeAll(keepingCapacity: true)
                count = 0
            }
            bytes += row
            count += 1
        }
        if count > 0 { chunks.append(try RowChunk(bytes)) }
        return chunks
    }
}

// MARK: - DocumentRows

/// The rows of one document, numbered among those of the same view and key.
///
/// Rows of one key are ordered by their values, as in CouchDB (``ErlangOrder``), and rows with equal values by the
/// order in which they were emitted.
struct DocumentRows {
    /// A row to be written to an index.
    struct Row {
        /// The emission.
        let emission: Emission
        /// The key's ``SortKey``.
        let key: [UInt8]
        /// The number among the rows of its key, from 0.
        fileprivate(set) var number = 0

        fileprivate func hasKey(of other: Row) -> Bool { emission.view == other.emission.view && key == other.key }
    }

    /// The rows, by view and key.
    let rows: [Row]

    /// Sorts a document's emissions. Keys that are not JSON are dropped.
    ///
    /// - Complexity: O(*n* log *n*) for *n* emissions.
    init(_ emissions: [Emission], _ definitions: [ViewDefinition]) {
        var rows: [Row] = []
        rows.reserveCapacity(emissions.count)
        for emission in emissions where definitions.indices.contains(emission.view) {
            var key: [UInt8] = []
            let order = definitions[emission.view].order
            do { try SortKey.append(json: emission.key[...], to: &key, in: order) } catch { continue }
            rows.append(Row(emission: emission, key: key))
        }
        guard rows.count > 1 else {
            self.rows = rows
            return
        }
        // Sorting indexes preserves the order of equal rows.
        rows = rows.indices.sorted { Self.isBefore(rows[$0], rows[$1]) ?? ($0 < $1) }.map { rows[$0] }
        var start = 0
        while start < rows.count {
            let end = rows[start...].firstIndex { !$0.hasKey(of: rows[start]) } ?? rows.count
            if end - start > 1 { Self.number(&rows, start..<end) }
            start = end
        }
        self.rows = rows
    }

    /// Whether a row's view and key precede another's; `nil` when they are the same.
    private static func isBefore(_ left: Row, _ right: Row) -> Bool? {
        if left.emission.view != right.emission.view { return left.emission.view < right.emission.view }
        return left.key == right.key ? nil : left.key.lexicographicallyPrecedes(right.key)
    }

    /// Sorts rows of one key by their values and numbers them.
    private static func number(_ rows: inout [Row], _ range: Range<Int>) {
        let values = rows[range].map { (try? JSONValue(utf8: $0.emission.value)) ?? .null }
        let order = values.indices.sorted { left, right in
            let order = ErlangOrder.compare(values[left], values[right])
            return order == .same ? left < right : order == .before
        }
        let old = Array(rows[range])
        for (number, place) in order.enumerated() {
            rows[range.lowerBound + number] = old[place]
            rows[range.lowerBound + number].number = number
        }
    }
}

// MARK: - RowChange

/// A row to add to an index or to remove from it.
struct RowChange {
    let position: [UInt8]
    /// The row in the format of a chunk; `nil` to remove it.
    let row: [UInt8]?
}
