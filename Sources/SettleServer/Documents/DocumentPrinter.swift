internal import SettleCore
internal import SettleDatabase

/// Prints documents like CouchDB: the reserved members around the stored body, whose bytes are copied.
struct DocumentPrinter {
    let source: any DocumentSource
    let options: DocumentOptions

    init(source: any DocumentSource, options: DocumentOptions) {
        self.source = source
        self.options = options
    }

    /// A printer of the documents in a list or a feed, whose readings are counted.
    init(source: any DocumentSource, options: DocumentOptions, metrics: Metrics) {
        var options = options
        options.metrics = metrics
        options.isInList = true
        self.init(source: source, options: options)
    }

    /// One revision of a document.
    ///
    /// - Parameters:
    ///   - revision: The revision.
    ///   - content: Its content.
    ///   - record: The document's record.
    ///   - hasMeta: Whether requested information about the whole document is included; only with the winner.
    /// - Returns: Its JSON, and whether it includes information about the whole document. All of it is in the bytes unless
    ///   attachments are to be included.
    /// - Throws: ``DatabaseError``.
    func print(
        _ revision: RevisionID, _ content: RevisionContent, of record: DocumentRecord, hasMeta: Bool
    ) throws -> (text: WireText, hasMeta: Bool) {
        options.metrics?.readDocument()
        let history = record.tree.history(of: revision, limit: try historyLimit())
        let document = WireDocument(
            id: record.id.string, revision: .revision(revision), history: options.hasRevisions ? history : nil,
            isDeleted: record.tree[revision]?.isDeleted == true, body: content.body)
        let meta = hasMeta ? meta(revision, record) : []
        var text = WireText()
        append(document, others: meta, to: &text.bytes)
        if !content.attachments.isEmpty {
            try append(
                content.attachments, of: record.id, wanted: try wanted(content, history, of: record), to: &text)
        }
        text.bytes.append(UInt8(ascii: "}"))
        return (text, !meta.isEmpty)
    }

    /// A local document.
    func print(_ document: LocalDocument) -> [UInt8] {
        options.metrics?.readDocument()
        var wire = WireDocument(id: document.id.string, revision: .impossible(document.revision), body: document.body)
        if options.hasRevisions { wire.localNumber = String(document.revisionNumber) }
        var bytes: [UInt8] = []
        append(wire, others: [], to: &bytes)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Which attachments of a revision are sent with their contents.
    ///
    /// - Parameters:
    ///   - content: The revision's content.
    ///   - history: The revision and its ancestors.
    ///   - record: The document's record.
    /// - Returns: For each attachment whether its content is sent.
    /// - Throws: ``DatabaseError``.
    func wanted(
        _ content: RevisionContent, _ history: RevisionHistory?, of record: DocumentRecord
    ) throws -> [Bool] {
        guard options.hasAttachments else { return content.attachments.map { _ in false } }
        guard !content.attachments.isEmpty, let since = options.attachmentsSince, let history,
            let known = try KnownAttachments(
                of: since.compactMap(\.id), in: history, content: { try source.content(of: $0, in: record) })
        else { return content.attachments.map { _ in true } }
        return content.attachments.map { !known.contains($0) }
    }

    private func historyLimit() throws -> Int {
        options.hasRevisions || options.attachmentsSince != nil ? try source.database.revisionLimit() : 1
    }

    private func meta(_ revision: RevisionID, _ record: DocumentRecord) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if options.hasRevisionsInfo, let history = record.tree.history(of: revision) {
            let list = history.revisions.map { revision -> JSONValue in
                let node = record.tree[revision]
                let isKept = node.map { $0.bodyToken != BodyToken.none } ?? false
                let status = !isKept ? "missing" : node?.isDeleted == true ? "deleted" : "available"
                return ["rev": .string(revision.description), "status": .string(status)]
            }
            members.append(("_revs_info", .array(list)))
        }
        if options.hasLocalSequence {
            members.append(("_local_seq", .number(JSONNumber(record.sequence.number))))
        }
        for (isWanted, name, list) in [
            (options.hasConflicts, "_conflicts", record.tree.conflicts),
            (options.hasDeletedConflicts, "_deleted_conflicts", record.tree.deletedConflicts),
        ] where isWanted && !list.isEmpty {
            members.append((name, .array(list.map { .string($0.description) })))
        }
        return members
    }
}

extension DocumentPrinter {
    /// Appends a document without its attachments and its end.
    private func append(_ document: WireDocument, others: [(String, JSONValue)], to bytes: inout [UInt8]) {
        bytes.reserveCapacity(document.body.utf8.count + 128)
        if options.keepsNumbers {
            document.appendHead(to: &bytes, .bodyEarly, others: others)
        } else {
            document.appendHead(to: &bytes, .bodyEarly, others: others) { WireJSON.append($0, to: &$1) }
        }
    }
}

// MARK: - Attachments

extension DocumentPrinter {
    /// The largest content that is put into the text, in bytes; larger ones are read when they are sent.
    private static let largestInText = 64 * 1024

    /// Appends the member `_attachments`.
    func append(
        _ attachments: [DocumentAttachment], of id: DocumentID, wanted: [Bool], to text: inout WireText
    ) throws {
        WireDocument.beginAttachments(in: &text.bytes)
        for (index, (attachment, isWanted)) in zip(attachments, wanted).enumerated() {
            if index > 0 { text.bytes.append(UInt8(ascii: ",")) }
            if isWanted, !options.follows {
                try append(dataOf: attachment, of: id, to: &text)
            } else {
                let wire = attachment.wire(isWanted ? .follows() : .stub, hasEncoding: options.hasEncodingInfo)
                wire.append(to: &text.bytes)
            }
        }
        text.bytes.append(UInt8(ascii: "}"))
    }

    /// Appends an attachment with its content. An unreadable one is a stub in a list, and an error elsewhere.
    private func append(dataOf attachment: DocumentAttachment, of id: DocumentID, to text: inout WireText) throws {
        let content: Content
        do { content = try self.content(of: attachment) } catch let error as DatabaseError
            where error.code == .attachmentMissing
        {
            let told = DatabaseError(
                .attachmentMissing,
                "the attachment \"\(attachment.name)\" of \"\(id)\" can't be read: \(error.message)",
                cause: error)
            guard options.isInList else { throw told }
            try source.database.report(told, of: id)
            return attachment.wire(hasEncoding: options.hasEncodingInfo).append(to: &text.bytes)
        }
        var wire = attachment.wire(hasLength: false, hasEncoding: options.hasEncodingInfo)
        switch content {
        case .small(let bytes):
            wire.content = .inline(bytes)
            wire.append(to: &text.bytes)
        case .large(let held):
            wire.appendHead(to: &text.bytes)
            text += ",\"data\":\"".utf8
            text.append(contentOf: held)
            text += "\"".utf8
            wire.appendEnd(to: &text.bytes)
        }
    }

    private enum Content {
        case small([UInt8])
        case large(DocumentAttachment)
    }

    private func content(of attachment: DocumentAttachment) throws -> Content {
        // Kept from being collected until it was sent.
        let database = try source.database
        let held = try database.held(attachment)
        let reader = try database.attachmentReader(for: held)
        var bytes: [UInt8] = []
        while let piece = try reader.read() {
            bytes += piece
            if bytes.count > Self.largestInText { return .large(held) }
        }
        return .small(bytes)
    }
}
