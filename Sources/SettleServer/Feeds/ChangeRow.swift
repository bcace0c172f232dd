internal import SettleCore
internal import SettleDatabase
internal import SettleQuery

/// Prints the rows of a feed.
struct ChangeRow: Sendable {
    let query: ChangesQuery
    let filter: ChangesFilter
    let sequences: WireSequence
    let metrics: Metrics
    /// The bytes around the rows.
    let framing: FeedFraming
    /// Whether the rows or the filter need the documents' contents.
    let needsContent: Bool

    init(query: ChangesQuery, filter: ChangesFilter, sequences: WireSequence, metrics: Metrics) {
        self.query = query
        self.filter = filter
        self.sequences = sequences
        self.metrics = metrics
        framing = FeedFraming(query)
        needsContent = query.hasDocuments || filter.needsContent
    }

    /// Appends a printed row to earlier rows.
    func append(_ row: WireText, _ sequence: UpdateSequence, isFirst: Bool, to text: inout WireText) {
        framing.append(row, sequences.text(sequence), isFirst: isFirst, to: &text)
    }

    /// A change as JSON, or `nil` if the filter excludes it.
    ///
    /// - Parameters:
    ///   - record: The changed document.
    ///   - database: Its database.
    ///   - chosen: The leaves that the filter function has passed; `nil` without a function.
    /// - Returns: The row.
    /// - Throws: ``DatabaseError``.
    func text(_ record: DocumentRecord, of database: Database, chosen: [RevisionNode]? = nil) throws -> WireText? {
        if query.subject == .databases {
            return DatabaseEvent(record.id).map { WireText($0.row(sequences.text(record.sequence))) }
        }
        let leaves =
            try chosen
            ?? filter.leaves(of: record, hasAllLeaves: query.hasAllLeaves) {
                try document($0, of: record, in: database)
            }
        guard !leaves.isEmpty, let winner = record.tree.winner else { return nil }
        var bytes = Array("{\"seq\":\"\(sequences.text(record.sequence))\",\"id\":".utf8)
        JSONValue.append(record.id.string, to: &bytes)
        bytes += Array(",\"changes\":[".utf8)
        for (index, leaf) in leaves.enumerated() {
            bytes += Array((index == 0 ? "{\"rev\":" : ",{\"rev\":").utf8)
            JSONValue.append(leaf.revision.description, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
        if winner.isDeleted { bytes += Array(",\"deleted\":true".utf8) }
        var text = WireText(bytes)
        if query.hasDocuments {
            if record.damage != nil {
                text += ",\"doc\":null".utf8
            } else if let content = record.content {
                text += ",\"doc\":".utf8
                text += try document(winner, content, of: record, in: database)
            }
        }
        text += "}".utf8
        return text
    }

    /// The winner as the feed shows it. If only some fields are selected, the contents of attachments are left out.
    private func document(
        _ winner: RevisionNode, _ content: RevisionContent, of record: DocumentRecord, in database: Database
    ) throws -> WireText {
        var options = query.documents
        if filter.projection != nil { options.hasAttachments = false }
        let printer = DocumentPrinter(source: database, options: options, metrics: metrics)
        let document = try printer.print(winner.revision, content, of: record, hasMeta: true).text
        guard let projection = filter.projection else { return document }
        return WireText(projection.shown(of: try JSONValue(utf8: document.bytes)).utf8)
    }

    /// The leaves that a filter function is called with, winner first, each as the function sees it.
    func candidates(
        of record: DocumentRecord, in database: Database
    ) throws -> [(leaf: RevisionNode, json: [UInt8])] {
        guard let winner = record.tree.winner else { return [] }
        return try (query.hasAllLeaves ? record.tree.leaves : [winner]).compactMap { leaf in
            try printed(leaf, of: record, in: database).map { (leaf, $0) }
        }
    }

    /// A leaf as the filter sees it; the winner includes its conflicts if requested.
    private func document(_ leaf: RevisionNode, of record: DocumentRecord, in database: Database) throws -> JSONValue? {
        try printed(leaf, of: record, in: database).map { try JSONValue(utf8: $0) }
    }

    private func printed(_ leaf: RevisionNode, of record: DocumentRecord, in database: Database) throws -> [UInt8]? {
        let isWinner = leaf.revision == record.tree.winner?.revision
        let known = isWinner ? record.content : nil
        let content: RevisionContent?
        do { content = try known ?? database.content(of: leaf.revision, in: record) } catch let error as DatabaseError
            where error.code == .damagedDocument
        {
            database.report(error, of: record.id)
            return nil
        }
        guard let content else { return nil }
        var options = DocumentOptions()
        options.hasConflicts = query.documents.hasConflicts && !query.hasAllLeaves
        let printer = DocumentPrinter(source: database, options: options)
        return try printer.print(leaf.revision, content, of: record, hasMeta: isWinner).text.bytes
    }
}

// MARK: - FeedFraming

/// The bytes around the rows of a feed.
struct FeedFraming: Sendable {
    private let feed: ChangesQuery.Feed
    private let subject: ChangesQuery.Subject

    init(_ query: ChangesQuery) { (feed, subject) = (query.feed, query.subject) }

    /// Whether the answer is one JSON text.
    var isOneText: Bool { feed == .normal || feed == .longpoll }

    /// The bytes before all rows.
    var head: [UInt8] { isOneText ? Array("{\"results\":[\n".utf8) : [] }

    /// The bytes between two rows.
    var separator: [UInt8] { isOneText ? Array(",\r\n".utf8) : [] }

    /// The heartbeat.
    var sign: [UInt8] { Array((feed == .eventsource ? "event: heartbeat\ndata: \n\n" : "\n").utf8) }

    /// Appends a row.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - sequence: Its position as text.
    ///   - isFirst: Whether this is the first row.
    ///   - text: The text to append to.
    func append(_ row: WireText, _ sequence: String, isFirst: Bool, to text: inout WireText) {
        switch feed {
        case .normal, .longpoll:
            if !isFirst { text += separator }
            text += row
        case .continuous:
            text += row
            text += "\n".utf8
        case .eventsource:
            text += "data: ".utf8
            text += row
            text += "\nid: \"\(sequence)\"\n\n".utf8
        }
    }

    /// The bytes after all rows.
    ///
    /// - Parameters:
    ///   - last: The position of the feed as text.
    ///   - pending: The number of changes after that position.
    /// - Returns: The bytes.
    func tail(_ last: String, pending: Int) -> [UInt8] {
        let rest = subject == .documents ? ",\"pending\":\(pending)}\n" : "}\n"
        return switch feed {
        case .normal, .longpoll: Array("\n],\n\"last_seq\":\"\(last)\"\(rest)".utf8)
        case .continuous: Array("{\"last_seq\":\"\(last)\"\(rest)".utf8)
        case .eventsource: []
        }
    }
}
