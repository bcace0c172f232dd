internal import SettleCore
internal import SettleDatabase
internal import SettleViews

/// The answer to one query of a view, a page of bytes at a time.
///
/// Each page reads one state of the index, and continues after the last row of the page before. So memory is
/// bounded and a slow client blocks nothing, but a long answer may mix rows of several states, as lists of
/// documents do.
struct ViewAnswer {
    let group: ViewGroup
    let view: ViewGroup.View
    let query: ViewQuery
    let source: any QuerySource
    let metrics: Metrics

    private var ranges: ArraySlice<RowRange> = []
    private var left = 0
    private var toSkip = 0
    private var hasBegun = false
    private var hasRows = false
    /// Whether the answer is complete.
    private(set) var isDone = false

    /// A page ends after this many bytes of the index.
    private static let pageLength = 256 * 1024

    init(
        _ group: ViewGroup, _ view: ViewGroup.View, _ query: ViewQuery, _ source: any QuerySource, _ metrics: Metrics
    ) {
        (self.group, self.view, self.query, self.source, self.metrics) = (group, view, query, source, metrics)
        ranges = query.ranges(view)[...]
        (left, toSkip) = (query.limit, query.skip)
    }

    /// The next piece.
    ///
    /// - Parameter most: The maximum number of rows; groups do not count.
    /// - Returns: The piece; `nil` at the end.
    /// - Throws: Errors of reading the index.
    mutating func next(most: Int = .max) throws -> WireText? {
        guard !isDone else { return nil }
        var bytes = WireText()
        try source.read(view.part.index) { index in
            if !hasBegun { try begin(index, &bytes) }
            hasBegun = true
            var more = most
            while bytes.count < Self.pageLength, left > 0, more > 0, let range = ranges.popFirst() {
                let rest = try query.isReduced(view) ? groups(range, index, &bytes) : rows(range, index, &more, &bytes)
                if let rest { ranges = [rest] + ranges }
            }
        }
        if left <= 0 || ranges.isEmpty {
            bytes += Array("\r\n]}".utf8)
            isDone = true
        }
        return bytes
    }

    private func begin(_ index: IndexReading, _ bytes: inout WireText) throws {
        var head: [String] = []
        if !query.isReduced(view) {
            head.append("\"total_rows\":\(try index.count(view.number))")
            head.append("\"offset\":\(try offset(index))")
        }
        if query.hasUpdateSequence {
            head.append("\"update_seq\":\(try WireSequence(source).json(index.sequence))")
        }
        bytes += Array(("{" + head.map { $0 + "," }.joined() + "\"rows\":[\r\n").utf8)
    }

    /// The number of rows before the first shown one.
    private func offset(_ index: IndexReading) throws -> Int {
        var toSkip = query.skip
        var offset = 0
        if let range = ranges.first, ranges.count == 1, toSkip == 0 { return try index.offset(view.number, of: range) }
        for range in ranges {
            let count = try index.count(view.number, in: range)
            offset = try index.offset(view.number, of: range) + min(toSkip, count)
            if toSkip < count { return offset }
            toSkip -= count
        }
        return offset
    }

    private mutating func separate(_ bytes: inout WireText) {
        if hasRows { bytes += Self.separator }
        hasRows = true
    }

    private mutating func rows(
        _ range: RowRange, _ index: IndexReading, _ more: inout Int, _ bytes: inout WireText
    ) throws -> RowRange? {
        if toSkip > 0 {
            let count = try index.count(view.number, in: range)
            guard toSkip < count else {
                toSkip -= count
                return nil
            }
        }
        var isFirst = !hasRows
        let full = Self.pageLength
        // Capture a constant: capturing the mutable value would copy it for each row.
        let me = self
        var printed = bytes
        bytes = WireText()
        let page = try index.forEachRow(view.number, in: range, skip: toSkip, limit: left) { row in
            if !isFirst { printed += Self.separator }
            isFirst = false
            try me.append(row, to: &printed)
            more -= 1
            return printed.count < full && more > 0
        }
        bytes = printed
        hasRows = !isFirst
        if page.count > 0 { toSkip = 0 }
        left -= page.count
        return page.rest
    }

    private mutating func groups(
        _ range: RowRange, _ index: IndexReading, _ bytes: inout WireText
    ) throws -> RowRange? {
        guard let reducer = view.reducer else { return nil }
        let page = try index.groups(
            view.number, by: reducer, in: range, level: query.level, skip: toSkip, limit: left)
        toSkip -= page.skipped
        left -= page.groups.count
        let isScript = view.part.index.reducers(of: view.number)[reducer] is ScriptReducer
        for group in page.groups {
            separate(&bytes)
            if isScript, let reason = ScriptReducer.overflow(of: group.value) {
                bytes += Array("{\"key\":null,\"error\":\"reduce_overflow_error\",\"reason\":".utf8)
                bytes += reason.utf8
                bytes += "}".utf8
                continue
            }
            bytes += Array("{\"key\":".utf8)
            WireJSON.append(group.key, to: &bytes.bytes)
            bytes += Array(",\"value\":".utf8)
            WireJSON.append(group.value, to: &bytes.bytes)
            bytes += "}".utf8
        }
        return page.rest
    }

    private static let separator = Array(",\r\n".utf8)
    private static let rowHead = Array("{\"id\":".utf8)
    private static let rowKey = Array(",\"key\":".utf8)
    private static let rowValue = Array(",\"value\":".utf8)

    /// Appends an id as JSON. Most ids need no escapes.
    private static func append(id: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        let isPlain = id.allSatisfy { 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard isPlain else { return JSONValue.append(String(decoding: id, as: UTF8.self), to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
        bytes += id
        bytes.append(UInt8(ascii: "\""))
    }

    private func append(_ row: IndexReading.RawRow, to text: inout WireText) throws {
        text.bytes += Self.rowHead
        Self.append(id: row.id, to: &text.bytes)
        text.bytes += Self.rowKey
        WireJSON.append(row.key, to: &text.bytes)
        text.bytes += Self.rowValue
        WireJSON.append(row.value, to: &text.bytes)
        if query.hasDocuments {
            text += ",\"doc\":".utf8
            text += try document(String(decoding: row.id, as: UTF8.self), row.value) ?? WireText(Array("null".utf8))
        }
        text.bytes.append(UInt8(ascii: "}"))
    }

    /// The document of a row: the one that emitted it, or the document and revision that its value names.
    private func document(_ id: String, _ value: UnsafeBufferPointer<UInt8>) throws -> WireText? {
        let lookup = DocumentLookup(source: source)
        let printer = DocumentPrinter(source: source, options: query.documents, metrics: metrics)
        var wanted = id
        if value.first == UInt8(ascii: "{"), let link = (try? JSONValue(utf8: Array(value)))?.object {
            if let named = link["_id"] {
                guard let name = named.string else { return nil }
                wanted = name
            }
            if let revision = link["_rev"]?.string {
                guard let known = try? WireRevision(revision),
                    let found = try readable({ try lookup.find(known, of: DocumentID(unchecked: wanted)) })
                else { return nil }
                return try printer.print(found.revision, found.content, of: found.record, hasMeta: false).text
            }
        }
        guard let record = try source.storedRecord(of: DocumentID(unchecked: wanted)), record.damage == nil,
            let winner = record.tree.winner, !winner.isDeleted, let content = record.content
        else { return nil }
        return try printer.print(winner.revision, content, of: record, hasMeta: true).text
    }

    /// The found document; `nil` if it is damaged, as if it did not exist.
    private func readable(_ find: () throws -> DocumentLookup.Found?) throws -> DocumentLookup.Found? {
        do { return try find() } catch let error as DatabaseError where error.code == .damagedDocument { return nil }
    }
}
