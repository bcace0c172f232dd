internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

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
        var bytes = Array("{\"_id\":".utf8)
        JSONValue.append(record.id.string, to: &bytes)
        Self.append("_rev", .string(revision.description), to: &bytes)
        append(members: content.body, to: &bytes)
        if record.tree[revision]?.isDeleted == true { Self.append("_deleted", true, to: &bytes) }
        let history = record.tree.history(of: revision, limit: try historyLimit())
        if options.hasRevisions, let history {
            bytes += Array(",\"_revisions\":".utf8)
            history.append(to: &bytes)
        }
        var isTold = false
        if hasMeta {
            for (name, value) in meta(revision, record) {
                Self.append(name, value, to: &bytes)
                isTold = true
            }
        }
        var text = WireText(bytes)
        if !content.attachments.isEmpty {
            try append(
                content.attachments, of: record.id, wanted: try wanted(content, history, of: record), to: &text)
        }
        text += [UInt8(ascii: "}")]
        return (text, isTold)
    }

    /// A local document.
    func print(_ document: LocalDocument) -> [UInt8] {
        options.metrics?.readDocument()
        var bytes = Array("{\"_id\":".utf8)
        JSONValue.append(document.id.string, to: &bytes)
        Self.append("_rev", .string(document.revision), to: &bytes)
        append(members: document.body, to: &bytes)
        if options.hasRevisions {
            Self.append(
                "_revisions", ["start": 0, "ids": [.string(String(document.revisionNumber))]], to: &bytes)
        }
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
    /// Appends a member, with a comma before it.
    static func append(_ name: String, _ value: JSONValue, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: ","))
        JSONValue.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        value.append(to: &bytes)
    }

    private func append(members body: DocumentBody, to bytes: inout [UInt8]) {
        let members = body.utf8.dropFirst().dropLast()
        guard !members.isEmpty else { return }
        bytes.append(UInt8(ascii: ","))
        if options.keepsNumbers { bytes += members } else { WireJSON.append(members, to: &bytes) }
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
        text += ",\"_attachments\":{".utf8
        for (index, (attachment, isWanted)) in zip(attachments, wanted).enumerated() {
            if index > 0 { text += ",".utf8 }
            JSONValue.append(attachment.name, to: &text.bytes)
            text += ":{\"content_type\":".utf8
            JSONValue.append(attachment.contentType, to: &text.bytes)
            text += ",\"revpos\":\(attachment.revpos),\"digest\":\"\(attachment.digest)\"".utf8
            if !isWanted {
                text += ",\"length\":\(attachment.length),\"stub\":true".utf8
            } else if options.follows {
                text += ",\"length\":\(attachment.length),\"follows\":true".utf8
            } else {
                try append(dataOf: attachment, of: id, to: &text)
            }
            if options.hasEncodingInfo, attachment.encoding != .identity {
                let (encoding, length) = (attachment.encoding.rawValue, attachment.encodedLength)
                text += ",\"encoding\":\"\(encoding)\",\"encoded_length\":\(length)".utf8
            }
            text += "}".utf8
        }
        text += "}".utf8
    }

    /// Appends the content as `data`. An unreadable one is a stub in a list, and an error elsewhere.
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
            try source.database.note(told, of: id)
            text += ",\"length\":\(attachment.length),\"stub\":true".utf8
            return
        }
        text += ",\"data\":\"".utf8
        switch content {
        case .small(let bytes): text += Base64.encode(bytes).utf8
        case .large(let held): text.append(contentOf: held)
        }
        text += "\"".utf8
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
