internal import SettleCore

/// Copies a database exactly: positions of changes, tokens of contents and the instance stay, so that what clients, checkpoints and
/// indexes remember of the one is true of the other.
///
///     contents ── documents ── local documents ── attachments ── expirations ── newest position, settings ── comparison
///     by token    by position  by id              by digest      by id
///
/// Each part is copied in an order, in transactions of bounded size, and goes on behind the last that the target has, or
/// replaces what is there. So a copy that was interrupted at any point is continued by the next one. A setting of the target names
/// the source until both were compared.
struct DatabaseCopy {
    let source: Database
    let target: Database
    let progress: (MaintenanceProgress) throws -> Void

    /// The setting of an unfinished copy, with the instance of its source.
    static let marker = "copy_of"
    /// How many records a transaction has at most, and about how many bytes.
    static let pageLength = 500
    static let pageBytes = 4 << 20

    /// Copies what the target lacks, and compares the two.
    func run() throws -> DatabaseFingerprint {
        try begin()
        let sequence = try source.lastSequence()
        try copyContents()
        try copyDocuments()
        try copySideRecords(.locals(after: nil), "local documents")
        try copyBlobs()
        try copySideRecords(.expirationsByID(after: nil), "expirations")
        try target.engine.hold { try $0.restoreSequence(sequence) }
        try copySettings()
        let fingerprint = try compare(sequence)
        try target.engine.hold { try $0.setSetting(Self.marker, to: nil) }
        return fingerprint
    }

    private func copyContents() throws {
        var token = try target.engine.read { try $0.contentTokens(after: 0, descending: true, limit: 1) }.first ?? 0
        var done = 0
        while case let page = try contents(after: token), let last = page.last {
            try target.engine.hold { writer in
                for (token, content) in page { try writer.restoreContent(content, at: token) }
            }
            token = last.token
            done += page.count
            try progress(MaintenanceProgress("old revisions", done, of: done))
        }
        let floor = try source.setting(BodyToken.floorSetting).flatMap { UInt64($0) } ?? 0
        guard floor > token else { return }
        // No token of the source is given again, not even one whose content is gone.
        try target.engine.hold { writer in
            try writer.restoreContent(RevisionContent(body: .empty), at: floor)
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
                try target.engine.hold { writer in
                    try writer.prepare(page.map(\.id), withContent: false)
                    for record in page { try writer.restore(record) }
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

    /// Gives the target the settings of the source, and no other.
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

    /// Whether a setting belongs to what is copied. A shared database has no journal, not even one that is switched on and empty.
    private func isCopied(setting name: String) -> Bool {
        name != Self.marker && name != Database.fileSetting
            && (name != Database.journalSetting || !target.engine.isShared && !source.engine.isShared)
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
