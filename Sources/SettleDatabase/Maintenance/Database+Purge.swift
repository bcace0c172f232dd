public import SettleCore

extension Database {
    /// Removes a document and all its revisions, as if it had never existed here. A purge does not replicate: a
    /// peer that has the document may bring it back. To delete a document everywhere, use
    /// ``delete(_:keeping:adding:onConflict:)``. A damaged document is removed, too, even if its revisions can't be
    /// read.
    ///
    /// - Returns: The leaves that were removed; empty for an unknown document.
    @discardableResult
    public func purge(_ id: some DocumentIDConvertible) throws -> [RevisionID] {
        try purge(id.ofDocument(), ifUnreadable: []) { $0.leaves.map(\.revision) }
    }

    /// Removes some leaves of a document, and the ancestors that lead to no other leaf.
    ///
    /// Unknown revisions and revisions that are not leaves are ignored. A document whose revisions can't be read is
    /// removed completely, and the given leaves are returned.
    ///
    /// - Returns: The leaves that were removed, each once, in their order (SEMANTICS 63).
    @discardableResult
    public func purge(_ id: some DocumentIDConvertible, revisions: [RevisionID]) throws -> [RevisionID] {
        try purge(id.ofDocument(), ifUnreadable: revisions.isEmpty ? nil : revisions) { tree in
            Set(revisions).filter { tree[$0]?.isLeaf == true }.sorted()
        }
    }

    private func purge(
        _ id: DocumentID, ifUnreadable: [RevisionID]?, _ choose: (RevisionTree) -> [RevisionID]
    ) throws -> [RevisionID] {
        try engine.hold { writer in
            try PurgeLog.countRequest(with: writer)
            if let ifUnreadable, let record = try writer.storedRecord(of: id, withContent: false), record.tree.isEmpty {
                try forget(record, journalRecorder, with: writer)
                // The separately stored contents of the document are unknown; compaction finds them.
                try writer.setSetting(Self.lostContentsSetting, to: "1")
                return ifUnreadable
            }
            return try purge(id, choose, journalRecorder, with: writer)
        }
    }

    /// The setting that records that there are contents without a document.
    static var lostContentsSetting: String { "lost_contents" }

    private func forget(
        _ record: DocumentRecord, _ journal: JournalRecorder?, with writer: any StorageWriter
    ) throws {
        if record.id.isDesign { designChanges.markPending() }
        try journal?.purge(nil, of: record.id, with: writer)
        try writer.remove(record)
        try writer.setExpiration(nil, of: record.id)
        try PurgeLog.record(record.id, with: writer)
    }

    /// Removes leaves of a document that a peer's newer state has replaced. Revisions that are no longer leaves
    /// stay; if these are all the leaves, all of them stay.
    package func forgetReplaced(_ leaves: [RevisionID], of id: DocumentID) throws {
        try commit { [self] in try forget(leaves, of: id, with: $0) }
    }

    /// Removes leaves like ``forgetReplaced(_:of:)``, as a part of a larger write.
    func forget(_ leaves: [RevisionID], of id: DocumentID, with editor: DocumentEditor) throws {
        guard !leaves.isEmpty else { return }
        let choose: (RevisionTree) -> [RevisionID] = { tree in
            let doomed = Set(leaves).filter { tree[$0]?.isLeaf == true }.sorted()
            return doomed.count < tree.leaves.count ? doomed : []
        }
        _ = try purge(id, choose, editor.journal, with: editor.writer)
    }

    /// Removes all leaves of a document but one, and leaves the journal unchanged.
    func purgeLeaves(of id: DocumentID, but kept: RevisionID?, with writer: any StorageWriter) throws {
        _ = try purge(id, { $0.leaves.map(\.revision).filter { $0 != kept } }, nil, with: writer)
    }

    private func purge(
        _ id: DocumentID, _ choose: (RevisionTree) -> [RevisionID], _ journal: JournalRecorder?,
        with writer: any StorageWriter
    ) throws -> [RevisionID] {
        guard var record = try writer.storedRecord(of: id, withContent: true)?.checkedTree() else { return [] }
        let doomed = choose(record.tree)
        guard !doomed.isEmpty else { return [] }
        if id.isDesign { designChanges.markPending() }
        let before = record
        let oldWinner = record.tree.winner?.revision
        let removed = record.tree.purge(doomed)
        let isAll = record.tree.isEmpty
        try journal?.purge(isAll ? nil : removed.map(\.revision), of: id, with: writer)
        try pendingCache?.keepContents(of: removed, in: before, with: writer)
        for node in removed { try writer.removeContent(at: node.bodyToken) }
        guard let winner = record.tree.winner else {
            try forget(record, nil, with: writer)
            return doomed
        }
        if winner.revision != oldWinner {
            record.content = try writer.content(at: winner.bodyToken)
            try writer.removeContent(at: winner.bodyToken)
            record.tree.setBodyToken(BodyToken.record, of: winner.revision)
        } else if let damage = record.damage {
            throw damage
        }
        try writer.put(record)
        return doomed
    }
}

// MARK: - Lost Contents

extension Database {
    /// Removes separately stored contents of documents that were purged while their revisions could not be read;
    /// returns their number.
    ///
    /// If there is a document whose revisions can't be read, any content may belong to it, and all stay.
    func removeLostContents() throws -> Int {
        guard try setting(Self.lostContentsSetting) != nil else { return 0 }
        return try engine.hold { writer in
            var named: Set<UInt64> = []
            var range = SequenceRange()
            while case let page = try writer.records(changedIn: range, limit: 500, withContent: false),
                let last = page.last
            {
                for record in page {
                    if record.tree.isEmpty { return 0 }
                    for node in record.tree.allNodes { named.insert(node.bodyToken) }
                }
                range.after = last.sequence
            }
            var removed = 0
            var token: UInt64 = 0
            while case let page = try writer.contentTokens(after: token, limit: 500), let last = page.last {
                for token in page where !named.contains(token) {
                    try writer.removeContent(at: token)
                    removed += 1
                }
                token = last
            }
            try writer.setSetting(Self.lostContentsSetting, to: nil)
            return removed
        }
    }
}

// MARK: - PurgeLog

/// The documents that were purged lately, for indexes that have to remove them, too.
///
/// A purge is not a change. So purges are numbered, and the last ones are kept in the database's settings.
package enum PurgeLog {
    private static let counter = "purges"
    private static let requests = "purge_requests"
    /// The number of purges that are kept. An index that has missed more must check which of its documents no
    /// longer exist.
    package static let kept: Int64 = 1000

    /// Records a purge, in the transaction that does it.
    static func record(_ id: DocumentID, with writer: any StorageWriter) throws {
        let number = try next(counter, writer)
        try writer.setSetting(name(number), to: id.string)
        try writer.setSetting(name(number &- kept), to: nil)
        try writer.setSetting(counter, to: String(number))
    }

    /// Counts a request to purge a document, whether or not the document existed: CouchDB's `purge_seq`.
    static func countRequest(with writer: any StorageWriter) throws {
        try writer.setSetting(requests, to: String(next(requests, writer)))
    }

    /// The number after the one in a setting.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` if the stored number is the highest one.
    private static func next(_ setting: String, _ writer: any StorageWriter) throws -> Int64 {
        let count = try writer.setting(setting).flatMap { Int64($0) } ?? 0
        let (number, isPastEnd) = count.addingReportingOverflow(1)
        guard !isPastEnd else { throw DatabaseError(.corrupt, "the count of purges is out of range") }
        return number
    }

    /// The number of requests to purge a document.
    package static func requestCount(in database: Database) throws -> Int64 {
        try database.setting(requests).flatMap { Int64($0) } ?? 0
    }

    /// The number of documents that were ever purged.
    package static func count(in database: Database) throws -> Int64 {
        try database.setting(counter).flatMap { Int64($0) } ?? 0
    }

    /// The documents purged after a number of purges; `nil` if some of them are unknown.
    package static func purged(after seen: Int64, in database: Database) throws -> [DocumentID]? {
        try database.snapshot {
            let count = try count(in: database)
            guard seen >= 0, seen <= count, count - seen <= kept else { return nil }
            guard seen < count else { return [] }
            var ids: [DocumentID] = []
            for number in seen + 1...count {
                guard let id = try database.setting(name(number)) else { return nil }
                ids.append(DocumentID(unchecked: id))
            }
            return ids
        }
    }

    private static func name(_ number: Int64) -> String { "purged.\(number)" }
}
