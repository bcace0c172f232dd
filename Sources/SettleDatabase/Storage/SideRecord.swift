public import SettleCore

/// A record beside the documents, found by its key. It has no revisions and takes no sequence.
public enum SideRecord: Sendable, Hashable {
    /// A local document.
    case local(LocalDocument)
    /// A setting of the database.
    case setting(name: String, value: String)
    /// The time at which a document expires, in milliseconds since 1970.
    case expiration(of: DocumentID, at: Int64)
    /// The content of an attachment.
    case blob(BlobRecord)
    /// An entry of the journal.
    case journal(StoredJournalEntry)
    /// The content of a revision that is kept apart from its document's record, by its token; `nil` where only tokens are listed.
    /// After it is written, new tokens are higher.
    case content(UInt64, RevisionContent?)

    /// The name of a side record. At most one record has it.
    public enum Key: Sendable, Hashable {
        /// A local document, by its whole id.
        case local(DocumentID)
        /// A setting, by its name.
        case setting(String)
        /// The expiration of a document.
        case expiration(DocumentID)
        /// The content of an attachment, by its digest.
        case blob(BlobDigest)
        /// An entry of the journal, by its number.
        case journal(Int64)
        /// The content of a revision, by its token.
        case content(UInt64)
    }

    /// The side records of one kind in an order, or the first of them.
    public enum Scan: Sendable, Hashable {
        /// Local documents in the order of their ids.
        case locals(after: DocumentID?)
        /// Expirations up to a time, the earliest first. One with a damaged id is read as far as possible.
        case expirations(through: Int64)
        /// Expirations in the order of the documents' ids.
        case expirationsByID(after: DocumentID?)
        /// Settings in the order of their names' bytes, without those that are the engine's own.
        case settings(after: String?)
        /// Contents of attachments in the order of their digests, without the bytes.
        case blobs(after: BlobDigest?)
        /// Entries of the journal, ascending by number.
        case journal(after: Int64)
        /// Entries of the journal, the newest first.
        case newestJournal
        /// The tokens of contents kept apart, ascending, without the contents.
        case contents(after: UInt64)
        /// The tokens of contents kept apart, descending, without the contents.
        case newestContents
    }

    /// The record's key.
    package var key: Key {
        switch self {
        case .local(let document): .local(document.id)
        case .setting(let name, _): .setting(name)
        case .expiration(let id, _): .expiration(id)
        case .blob(let blob): .blob(blob.digest)
        case .journal(let entry): .journal(entry.number)
        case .content(let token, _): .content(token)
        }
    }
}

extension StorageReader {
    /// The content of a revision that is kept apart from the document's record.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for one that can't be read.
    public func content(at token: UInt64) throws -> RevisionContent? {
        if case .content(_, let content)? = try sideRecord(.content(token)) { content } else { nil }
    }

    /// The tokens of contents kept apart that are higher than one, ascending.
    public func contentTokens(after token: UInt64, limit: Int) throws -> [UInt64] {
        try sideRecords(.contents(after: token), limit: limit).compactMap {
            if case .content(let token, _) = $0 { token } else { nil }
        }
    }

    /// The highest token of a content kept apart, or `nil`.
    public func newestContentToken() throws -> UInt64? {
        if case .content(let token, _)? = try sideRecords(.newestContents, limit: 1).first { token } else { nil }
    }

    /// A local document, by its whole id.
    public func localDocument(_ id: DocumentID) throws -> LocalDocument? {
        if case .local(let document)? = try sideRecord(.local(id)) { document } else { nil }
    }

    /// Local documents in the order of their ids.
    public func localDocuments(after id: DocumentID?, limit: Int) throws -> [LocalDocument] {
        try sideRecords(.locals(after: id), limit: limit).compactMap {
            if case .local(let document) = $0 { document } else { nil }
        }
    }

    /// A setting of the database.
    public func setting(_ name: String) throws -> String? {
        if case .setting(_, let value)? = try sideRecord(.setting(name)) { value } else { nil }
    }

    /// The time at which a document expires, in milliseconds since 1970; `nil` for a document that does not expire.
    public func expiration(of id: DocumentID) throws -> Int64? {
        if case .expiration(_, let time)? = try sideRecord(.expiration(id)) { time } else { nil }
    }

    /// The documents that expire by a time, and their times, the earliest first.
    public func expirations(through time: Int64, limit: Int) throws -> [(id: DocumentID, time: Int64)] {
        try sideRecords(.expirations(through: time), limit: limit).compactMap {
            if case .expiration(let id, let time) = $0 { (id, time) } else { nil }
        }
    }

    /// The content of an attachment; `nil` if no blob has the digest.
    public func blob(_ digest: BlobDigest) throws -> BlobRecord? {
        if case .blob(let blob)? = try sideRecord(.blob(digest)) { blob } else { nil }
    }

    /// Contents of attachments in the order of their digests, without the bytes.
    public func blobs(after digest: BlobDigest?, limit: Int) throws -> [BlobRecord] {
        try sideRecords(.blobs(after: digest), limit: limit).compactMap {
            if case .blob(let blob) = $0 { blob } else { nil }
        }
    }

    /// The entry of the journal with a number.
    public func journalEntry(_ number: Int64) throws -> StoredJournalEntry? {
        if case .journal(let entry)? = try sideRecord(.journal(number)) { entry } else { nil }
    }

    /// Entries of the journal, ascending by number.
    public func journalEntries(after number: Int64, limit: Int) throws -> [StoredJournalEntry] {
        try journalEntries(.journal(after: number), limit: limit)
    }

    /// The newest entries of the journal, the last one first.
    public func newestJournalEntries(limit: Int) throws -> [StoredJournalEntry] {
        try journalEntries(.newestJournal, limit: limit)
    }

    private func journalEntries(_ scan: SideRecord.Scan, limit: Int) throws -> [StoredJournalEntry] {
        try sideRecords(scan, limit: limit).compactMap {
            if case .journal(let entry) = $0 { entry } else { nil }
        }
    }
}

extension StorageWriter {
    /// Removes a content that is kept apart.
    public func removeContent(at token: UInt64) throws { try remove(.content(token)) }

    /// Writes a local document.
    public func put(_ document: LocalDocument) throws { try put(.local(document)) }

    /// Sets or clears a setting of the database.
    public func setSetting(_ name: String, to value: String?) throws {
        if let value { try put(.setting(name: name, value: value)) } else { try remove(.setting(name)) }
    }

    /// Sets or clears the time at which a document expires, in milliseconds since 1970.
    public func setExpiration(_ time: Int64?, of id: DocumentID) throws {
        if let time { try put(.expiration(of: id, at: time)) } else { try remove(.expiration(id)) }
    }
}
