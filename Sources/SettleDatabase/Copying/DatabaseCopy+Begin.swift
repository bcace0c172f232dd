internal import SettleCore

extension DatabaseCopy {
    /// Sees that the source can be copied and that the target is empty, or a copy of it that was begun.
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

    /// Sees that no id is too long for the target.
    private func checkIDs() throws {
        guard let longest = target.engine.longestID else { return }
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

/// The ids that are too long for an engine, as far as an error can list them.
private struct LongIDs {
    let longest: Int
    private var count = 0
    private var listed: [String] = []
    private static let most = 50
    private static let mostCharacters = 60

    init(longest: Int) { self.longest = longest }

    mutating func look(at id: DocumentID) {
        let length = id.string.utf8.count
        guard length > longest else { return }
        count += 1
        if listed.count < Self.most { listed.append("\"\(id.string.prefix(Self.mostCharacters))…\" (\(length) bytes)") }
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
