internal import SettleCore
internal import SettleDatabase

/// The rows of a list of documents, a page at a time.
///
/// Each page is a snapshot of its own, so memory is bounded and a long list holds no lock.
struct DocumentListing {
    let database: Database
    let query: ListingQuery
    let namespace: ListingNamespace
    let metrics: Metrics

    /// The beginning of the next page.
    struct Position {
        var range = DocumentRange()
        var keys: ArraySlice<JSONValue>?
        var left = 0
        var isEmpty = false
        var page = PageSize()
    }

    /// The text before the rows, without the bracket that opens them, and the rows' first position.
    func begin() throws -> (head: String, position: Position) {
        var position = Position(left: query.limit, page: PageSize(hasContents: query.hasDocuments))
        if let keys = query.keys {
            let names = (query.isDescending ? keys.reversed() : keys).dropFirst(query.skip).prefix(query.limit)
            position.keys = ArraySlice(names.filter(namespace.contains))
            return (try head(offset: nil), position)
        }
        (position.range, position.isEmpty) = range
        guard namespace != .local else { return (try head(offset: nil), position) }
        var skipped = namespace.range
        if query.start != nil {
            if query.isDescending {
                (skipped.after, skipped.from) = (position.range.through ?? position.range.before, nil)
            } else if let start = position.range.from {
                skipped.before = start
                if namespace == .design, start < DocumentID(unchecked: "_design/") {
                    skipped = DocumentRange(before: start)
                }
            }
            if query.start?.string == nil { return (try head(offset: 0), position) }
        }
        let before = query.start == nil ? 0 : try database.countLive(in: skipped)
        if query.skip > 0, !position.isEmpty { try skip(query.skip, &position) }
        return (try head(offset: before), position)
    }

    /// Moves the position to a live document by its place among those that are left.
    private func skip(_ place: Int, _ position: inout Position) throws {
        let first = try database.liveID(at: place, in: position.range)
        if query.isDescending { position.range.through = first } else { position.range.from = first }
        position.isEmpty = first == nil
    }

    /// The rows of the next page, possibly none; advances the position. `nil` at the end.
    func next(_ position: inout Position) throws -> [WireText]? {
        if position.isEmpty || position.left <= 0 { return nil }
        if position.keys != nil { return try nextKeys(&position) }
        if namespace == .local { return try nextLocal(&position) }
        let limit = min(position.page.count, position.left)
        let page = try database.records(in: position.range, limit: limit, withContent: query.hasDocuments)
        guard let last = page.last else { return nil }
        if query.isDescending { position.range.before = last.id } else { position.range.after = last.id }
        let rows = try page.filter { !$0.tree.isDeleted && !$0.tree.isEmpty }.map(row)
        position.left -= rows.count
        // There may be any number of deleted documents before the next live one.
        if rows.isEmpty { try skip(0, &position) }
        position.page.learn(count: page.count, bytes: rows.reduce(0) { $0 + $1.count })
        return rows
    }

    private func head(offset: Int?) throws -> String {
        if namespace == .local { return "{\"total_rows\":null,\"offset\":null,\"rows\":[\r\n" }
        let total = try database.countLive(in: namespace.range)
        let shown = offset.map { String(min(total, $0 + min(query.skip, total))) } ?? "null"
        var sequence = ""
        if query.hasUpdateSequence {
            let value = query.keys == nil ? try WireSequence(database).json(database.lastSequence()) : JSONValue.null
            sequence = "\"update_seq\":\(value),"
        }
        return "{\"total_rows\":\(total),\"offset\":\(shown),\(sequence)\"rows\":[\r\n"
    }

    /// The range of ids, and whether it is empty; a key that is not a string sorts before all ids.
    private var range: (DocumentRange, isEmpty: Bool) {
        var range = namespace.range
        range.descending = query.isDescending
        let low = query.isDescending ? query.end : query.start
        let high = query.isDescending ? query.start : query.end
        let isLowInclusive = !query.isDescending || query.isEndInclusive
        let isHighInclusive = query.isDescending || query.isEndInclusive
        if let text = low?.string {
            let id = DocumentID(unchecked: text)
            if range.from.map({ $0 < id }) ?? true { range.from = id }
            if !isLowInclusive { range.after = id }
        }
        guard let high else { return (range, false) }
        guard let text = high.string else { return (range, true) }
        let id = DocumentID(unchecked: text)
        if isHighInclusive {
            range.through = id
        } else if range.before.map({ id < $0 }) ?? true {
            range.before = id
        }
        return (range, false)
    }

    private func nextKeys(_ position: inout Position) throws -> [WireText]? {
        guard let keys = position.keys, !keys.isEmpty else { return nil }
        var (rows, bytes) = ([WireText](), 0)
        for key in keys.prefix(position.page.count) where bytes < PageSize.maximumBytes {
            let row = try row(ofKey: key)
            rows.append(row)
            bytes += row.count
        }
        position.keys = keys.dropFirst(rows.count)
        position.page.learn(count: rows.count, bytes: bytes)
        return rows
    }

    private func row(ofKey key: JSONValue) throws -> WireText {
        guard let id = key.string.map({ DocumentID(unchecked: $0) }) else { return missing(key) }
        if namespace == .local {
            return try database.localDocument(id).map(row) ?? missing(key)
        }
        return try database.storedRecord(of: id).map(row) ?? missing(key)
    }

    private func nextLocal(_ position: inout Position) throws -> [WireText] {
        // Local documents are few, so they are read all at once, in ascending order.
        defer { position.isEmpty = true }
        var all: [LocalDocument] = []
        var after: DocumentID?
        while case let page = try database.localDocuments(after: after, limit: 1000), let last = page.last {
            all += page.filter { position.range.contains($0.id) }
            after = last.id
        }
        if query.isDescending { all.reverse() }
        return all.dropFirst(query.skip).prefix(position.left).map(row)
    }

    private func missing(_ key: JSONValue, _ error: String = "not_found") -> WireText {
        var text = WireText(Array("{\"key\":".utf8))
        WireJSON.append(key, to: &text.bytes)
        text += ",\"error\":\"\(error)\"}".utf8
        return text
    }

    private func row(_ record: DocumentRecord) throws -> WireText {
        guard let winner = record.tree.winner else {
            return missing(.string(record.id.string), record.damage?.code.name ?? "not_found")
        }
        let mark = winner.isDeleted ? ",\"deleted\":true" : ""
        var text = Self.row(record.id.string, winner.revision.description, mark)
        if query.hasDocuments {
            text += ",\"doc\":".utf8
            if winner.isDeleted {
                text += "null".utf8
            } else if let damage = record.damage {
                text += "null,\"error\":\"\(damage.code)\"".utf8
            } else if let content = record.content {
                text += try printer.print(winner.revision, content, of: record, hasMeta: true).text
            }
        }
        text += "}".utf8
        return text
    }

    private func row(_ document: LocalDocument) -> WireText {
        var text = Self.row(document.id.string, document.revision, "")
        if query.hasDocuments {
            text += ",\"doc\":".utf8
            text += printer.print(document)
        }
        text += "}".utf8
        return text
    }

    private var printer: DocumentPrinter {
        DocumentPrinter(source: database, options: query.documents, metrics: metrics)
    }

    private static func row(_ id: String, _ revision: String, _ mark: String) -> WireText {
        var text = WireText(Array("{\"id\":".utf8))
        JSONValue.append(id, to: &text.bytes)
        text += ",\"key\":".utf8
        JSONValue.append(id, to: &text.bytes)
        text += ",\"value\":{\"rev\":".utf8
        JSONValue.append(revision, to: &text.bytes)
        text += "\(mark)}".utf8
        return text
    }
}

extension DocumentRange {
    fileprivate func contains(_ id: DocumentID) -> Bool {
        (from.map { id >= $0 } ?? true) && (after.map { id > $0 } ?? true) && (through.map { id <= $0 } ?? true)
            && (before.map { id < $0 } ?? true)
    }
}

// MARK: - ListingNamespace

/// The documents that a list includes.
enum ListingNamespace: Sendable {
    /// All except local ones: `_all_docs`.
    case all
    /// Design documents: `_design_docs`.
    case design
    /// Local documents: `_local_docs`.
    case local

    /// Whether a list has a row for a key, whether it is a document's id or not.
    func contains(_ key: JSONValue) -> Bool {
        switch self {
        case .all: true
        case .design: key.string?.utf8.starts(with: "_design/".utf8) ?? false
        case .local: key.string?.utf8.starts(with: "_local/".utf8) ?? false
        }
    }

    /// All ids of the namespace.
    var range: DocumentRange {
        self == .design
            ? DocumentRange(from: DocumentID(unchecked: "_design/"), before: DocumentID(unchecked: "_design0"))
            : DocumentRange()
    }
}
