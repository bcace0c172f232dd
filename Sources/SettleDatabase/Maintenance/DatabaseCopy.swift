internal import SettleCore

/// Copies a database exactly. Positions of changes, tokens of contents and the instance stay the same, so
/// everything that clients, checkpoints and indexes store about the source is valid for the copy.
///
///     contents ── documents ── local documents ── attachments ── expirations ── newest position, settings ── comparison
///     by token    by position  by id              by digest      by id
///
/// Each part is copied in a fixed order, in transactions of bounded size. Copying continues after the last record
/// that the target has, or replaces existing records. So the next copy continues one that was interrupted at any
/// point. Until both databases were compared, a setting of the target names the source.
struct DatabaseCopy {
    let source: Database
    let target: Database
    /// The engine of the target.
    let restorable: any RestorableStorage
    let progress: (MaintenanceProgress) throws -> Void

    /// - Throws: ``DatabaseError`` with code `invalid` for a target whose engine can't receive a copy.
    init(source: Database, target: Database, progress: @escaping (MaintenanceProgress) throws -> Void) throws {
        guard let restorable = target.capabilities.restorable else {
            throw DatabaseError(.invalid, "the storage of the target can't receive an exact copy; replicate instead")
        }
        (self.source, self.target, self.restorable, self.progress) = (source, target, restorable, progress)
    }

    /// The setting of an unfinished copy, with the instance of its source.
    static let marker = "copy_of"
    /// The maximum number of records in a transaction, and its approximate size in bytes.
    static let pageLength = 500
    static let pageBytes = 4 << 20

    /// Copies the parts that the target lacks, and compares the two databases.
    func run() throws -> DatabaseFingerprint {
        try begin()
        let sequence = try source.lastSequence()
        try copyContents()
        try copyDocuments()
        try copySideRecords(.locals(after: nil), "local documents")
        try copyBlobs()
        try copySideRecords(.expirationsByID(after: nil), "expirations")
        try target.engine.hold { _ in try restorable.restoreSequence(sequence) }
        try copySettings()
        let fingerprint = try compare(sequence)
        try target.engine.hold { try $0.setSetting(Self.marker, to: nil) }
        return fingerprint
    }

    private func copyContents() throws {
        var token = try target.engine.read { try $0.newestContentToken() } ?? 0
        var done = 0
        while case let page = try contents(after: token), let last = page.last {
            try target.engine.hold { writer in
                for (token, content) in page { try writer.put(.content(token, content)) }
            }
            token = last.token
            done += page.count
            try progress(MaintenanceProgress("old revisions", done, of: done))
        }
        let floor = try source.setting(BodyToken.floorSetting).flatMap { UInt64($0) } ?? 0
        guard floor > token else { return }
        // Tokens of the source are never reused, not even those of removed contents.
        try target.engine.hold { writer in
            try writer.put(.content(floor, RevisionContent(body: .empty)))
            try writer.removeContent(at: floor)
        }
    }

    private func contents(after token: UInt64) throws -> [(token: UInt64, content: RevisionContent)] {
        try source.engine.snapshot { reader in
            var page: [(token: UInt64, content: RevisionContent)] = []
            var bytes = 0
            for token in try reader.contentTokens(after: token, limit: Self.pageLength) where bytes < Self.pageBytes {
                guard let content = try reader.content(at: token) else { continue }
                page.append((token, content))
                bytes += content.body.utf8.count
            }
            return page
        }
    }

    private var documents: Int {
        get throws { try source.engine.read { try $0.count(.documents(DocumentRange())) } }
    }

    private func copyDocuments() throws {
        let (total, reached) = try (documents, target.lastSequence())
        var done = total - (try source.count(changedIn: SequenceRange(after: reached)))
        try source.engine.forEachPage(changedAfter: reached) { page in
            do {
                try target.engine.hold { _ in
                    try target.capabilities.prefetching?.prepare(page.map(\.id), withContent: false)
                    for record in page { try restorable.restore(record) }
                }
            } catch let error as DatabaseError where error.code == .conflict {
                throw DatabaseError(
                    .conflict, "the source was changed since its copy was begun; empty the target and copy it again",
                    cause: error)
            }
            done += page.count
            try progress(MaintenanceProgress("documents", done, of: total))
        }
    }

    private func copySideRecords(_ scan: SideRecord.Scan, _ phase: String) throws {
        var done = 0
        try source.engine.forEachPage(of: scan) { page in
            try target.engine.hold { writer in for record in page { try writer.put(record) } }
            done += page.count
            try progress(MaintenanceProgress(phase, done, of: done))
        }
    }

    /// Gives the target exactly the settings of the source.
    private func copySettings() throws {
        var names: Set<String> = []
        try source.engine.forEachPage(of: .settings(after: nil)) { page in
            try target.engine.hold { writer in
                for case .setting(let name, let value) in page where isCopied(setting: name) {
                    try writer.setSetting(name, to: value)
                    names.insert(name)
                }
            }
        }
        try target.engine.forEachPage(of: .settings(after: nil)) { page in
            try target.engine.hold { writer in
                for case .setting(let name, _) in page where isCopied(setting: name) && !names.contains(name) {
                    try writer.setSetting(name, to: nil)
                }
            }
        }
        try progress(MaintenanceProgress("settings", names.count, of: names.count))
    }

    /// Whether a setting is copied and compared. The setting of the journal is, if both storages support a journal.
    private func isCopied(setting name: String) -> Bool {
        name != Self.marker && name != Database.fileSetting
            && (name != Database.journalSetting
                || target.capabilities.journal != nil && source.capabilities.journal != nil)
    }

    private func compare(_ sequence: UpdateSequence) throws -> DatabaseFingerprint {
        let total = try 2 * documents
        var done = 0
        func fingerprint(_ database: Database) throws -> DatabaseFingerprint {
            try DatabaseFingerprint(of: database, where: isCopied) { count in
                done += count
                try progress(MaintenanceProgress("comparing", done, of: total))
            }
        }
        let (given, made) = try (fingerprint(source), fingerprint(target))
        guard try source.lastSequence() == sequence else {
            throw DatabaseError(
                .conflict, "the source was changed while it was copied; empty the target and copy it again")
        }
        let differences = made.differences(from: given)
        guard differences.isEmpty else {
            throw DatabaseError(
                .corrupt,
                """
                the copy differs from its source in \(differences.joined(separator: ", ")), if the source was not changed \
                meanwhile; empty the target and copy it again
                """)
        }
        return made
    }
}

// MARK: - Begin

extension DatabaseCopy {
    /// Checks that the source can be copied and that the target is empty, or an unfinished copy of it.
    func begin() throws {
        guard try source.setting(Self.marker) == nil else {
            throw DatabaseError(.invalid, "the source is an unfinished copy itself; finish that one first")
        }
        guard try source.engine.read({ try $0.newestJournalEntries(limit: 1) }).isEmpty else {
            throw DatabaseError(
                .invalid,
                """
                the source has local changes that no peer has acknowledged, and a journal can't be copied; replicate them, or \
                undo them, and copy the database then
                """)
        }
        try checkIDs()
        let instance = try source.instanceName()
        try target.engine.hold { writer in
            if let begun = try writer.setting(Self.marker) {
                guard begun == instance else {
                    throw DatabaseError(.exists, "the target is an unfinished copy of another database; empty it first")
                }
                return
            }
            guard try Self.isEmpty(writer) else {
                throw DatabaseError(.exists, "the target of a copy must be empty, and there is something in it")
            }
            try writer.setSetting(Self.marker, to: instance)
        }
    }

    private static func isEmpty(_ reader: any StorageReader) throws -> Bool {
        guard try reader.lastSequence == 0, try reader.contentTokens(after: 0, limit: 1).isEmpty else { return false }
        let scans: [SideRecord.Scan] = [
            .locals(after: nil), .blobs(after: nil), .expirationsByID(after: nil), .newestJournal,
        ]
        return try scans.allSatisfy { try reader.sideRecords($0, limit: 1).isEmpty }
    }

    /// Checks that no id is too long for the target.
    private func checkIDs() throws {
        guard let longest = target.capabilities.limited?.longestID else { return }
        var found = LongIDs(longest: longest)
        var range = DocumentRange()
        while case let page = try source.engine.read({ try $0.ids(.documents(range), limit: Self.pageLength) }),
            let last = page.last
        {
            for id in page { found.look(at: id) }
            range.after = last
        }
        try source.engine.forEachPage(of: .locals(after: nil)) { page in
            for case .local(let document) in page { found.look(at: document.id) }
        }
        if let error = found.error { throw error }
    }
}

/// The ids that are too long for an engine; an error lists only some of them.
private struct LongIDs {
    let longest: Int
    private var count = 0
    private var listed: [String] = []
    private static let maximumListed = 50
    private static let maximumCharacters = 60

    init(longest: Int) { self.longest = longest }

    mutating func look(at id: DocumentID) {
        let length = id.string.utf8.count
        guard length > longest else { return }
        count += 1
        if listed.count < Self.maximumListed {
            listed.append("\"\(id.string.prefix(Self.maximumCharacters))…\" (\(length) bytes)")
        }
    }

    var error: DatabaseError? {
        guard count > 0 else { return nil }
        let rest = count - listed.count
        return DatabaseError(
            .invalid,
            """
            \(count) \(count == 1 ? "id is" : "ids are") longer than the \(longest) bytes that the target can have; nothing was \
            copied: \(listed.joined(separator: ", "))\(rest > 0 ? ", and \(rest) more" : "")
            """)
    }
}

// MARK: - Blobs

extension DatabaseCopy {
    /// Copies the contents of attachments in the order of their digests, large ones piece by piece.
    func copyBlobs() throws {
        var reached: BlobDigest?
        try target.engine.forEachPage(of: .blobs(after: nil)) { page in
            if case .blob(let last)? = page.last { reached = last.digest }
        }
        var (written, bytes, done): ([PendingBlob], Int64, Int) = ([], 0, 0)
        func flush() throws {
            guard !written.isEmpty else { return }
            try target.engine.hold { writer in for pending in written { try writer.put(.blob(pending.record)) } }
            done += written.count
            (written, bytes) = ([], 0)
            try progress(MaintenanceProgress("attachments", done, of: done))
        }
        try source.engine.forEachPage(of: .blobs(after: reached)) { page in
            for case .blob(let row) in page {
                let pending = try copy(row)
                written.append(pending)
                bytes += pending.record.length
                if bytes >= Int64(Self.pageBytes) { try flush() }
            }
            try flush()
        }
    }

    /// Writes a content to the target's storage for its size; it is not in a row yet.
    private func copy(_ row: BlobRecord) throws -> PendingBlob {
        guard let record = try source.engine.read({ try $0.blob(row.digest) }) else {
            throw DatabaseError(.attachmentMissing, "the content \(row.digest) was removed while it was being copied")
        }
        let reader = try AttachmentReader(record, store: source.blobs, expands: false, range: nil, checksDigest: false)
        let writer = try target.attachmentWriter(contentType: "application/octet-stream", encoding: .identity)
        while let piece = try reader.read() { try writer.write(piece) }
        guard let pending = try writer.finish(name: "copy").pending, pending.record.digest == record.digest,
            pending.record.md5 == record.md5, pending.record.length == record.length
        else {
            throw DatabaseError(
                .attachmentMissing,
                """
                the content \(row.digest) is damaged in the source: its digests or its length differ; verify the source says \
                which document has it
                """)
        }
        return pending
    }
}

// MARK: - Copy

extension Database {
    /// Copies this database into an empty one, exactly: documents with their revisions, positions of changes and
    /// tokens of contents, local documents, settings with the instance, expirations, and contents of attachments.
    /// Everything that clients, checkpoints and indexes store about this database is valid for the copy.
    ///
    /// If a copy was interrupted, the next call with the same databases continues it. At the end both are read and
    /// compared. Neither may be changed meanwhile; documents that expire stay until the end. The target object
    /// still has old settings in memory, so close it and open it again before use.
    ///
    /// - Parameters:
    ///   - target: The other database, which is empty or an interrupted copy of this one.
    ///   - progress: Called with the progress, after each step. If it throws, the copy is interrupted.
    /// - Returns: A hash of everything in the copy, in hexadecimal digits.
    /// - Throws: ``DatabaseError`` with code `invalid`, before anything is written, if the journal has operations
    ///   or ids are longer than the target allows; `exists` for a target with other data; `conflict` if this
    ///   database was changed since the copy was begun; `damagedDocument` or `attachmentMissing` for data that
    ///   can't be read; `corrupt` for a copy that differs; errors of the storage and of `progress`.
    @discardableResult
    package func copy(
        to target: Database, progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) throws -> String {
        for database in [self, target] { database.expirations.cancel() }
        defer {
            do { try scheduleExpiration() } catch { warn("can't read when documents expire: \(error)") }
        }
        return try withoutActuallyEscaping(progress) { progress in
            try DatabaseCopy(source: self, target: target, progress: progress).run().description
        }
    }
}
