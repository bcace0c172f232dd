public import SettleCore

extension Database {
    /// Forgets a document and all its revisions, as if it had never been here. Nothing replicates: a peer that has it may
    /// bring it back. To delete a document everywhere use ``delete(_:keeping:adding:onConflict:)``. A damaged document is
    /// forgotten too, also where its revisions can't be read.
    ///
    /// - Returns: The leaves that were forgotten; none for an unknown document.
    @discardableResult
    public func purge(_ id: some DocumentIDConvertible) throws -> [RevisionID] {
        try purge(id.ofDocument(), ifUnreadable: []) { $0.leaves.map(\.revision) }
    }

    /// Forgets some leaves of a document, and the ancestors that lead to no other leaf.
    ///
    /// Revisions that are not leaves, or not known, are left alone. Of a document whose revisions can't be
    /// read all is forgotten, and those given are returned.
    ///
    /// - Returns: The leaves that were forgotten, each once, in their order (SEMANTICS 63).
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
                // It is unknown which contents kept apart were the document's; compaction finds them.
                try writer.setSetting(Self.lostContentsSetting, to: "1")
                return ifUnreadable
            }
            return try purge(id, choose, journalRecorder, with: writer)
        }
    }

    /// The setting that says that there are contents of which no document knows.
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

    /// Forgets leaves of a document that a peer's newer state has replaced. Revisions that are no longer leaves stay, and
    /// so do all if there are no others.
    package func forgetReplaced(_ leaves: [RevisionID], of id: DocumentID) throws {
        try commit { [self] in try forget(leaves, of: id, with: $0) }
    }

    /// Forgets leaves like ``forgetReplaced(_:of:)``, in a write that does more.
    func forget(_ leaves: [RevisionID], of id: DocumentID, with editor: DocumentEditor) throws {
        guard !leaves.isEmpty else { return }
        let choose: (RevisionTree) -> [RevisionID] = { tree in
            let doomed = Set(leaves).filter { tree[$0]?.isLeaf == true }.sorted()
            return doomed.count < tree.leaves.count ? doomed : []
        }
        _ = try purge(id, choose, editor.journal, with: editor.writer)
    }

    /// Forgets the leaves of a document but one, and leaves the journal as it is.
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
    /// Removes contents kept apart that belonged to documents which were purged while their revisions could not be read;
    /// returns how many.
    ///
    /// While there is a document whose revisions can't be read, any content may be its, and all stay.
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

/// Which documents were forgotten lately, for indexes that have to forget them too.
///
/// A purge is not a change. So each is numbered, and the last ones are kept among the database's settings.
package enum PurgeLog {
    private static let counter = "purges"
    private static let requests = "purge_requests"
    /// The number of those that are kept; an index that has missed more looks which of its documents are gone.
    package static let kept: Int64 = 1000

    /// Takes note of a purge, in the transaction that does it.
    static func record(_ id: DocumentID, with writer: any StorageWriter) throws {
        let number = (try writer.setting(counter).flatMap { Int64($0) } ?? 0) + 1
        try writer.setSetting(name(number), to: id.string)
        try writer.setSetting(name(number - kept), to: nil)
        try writer.setSetting(counter, to: String(number))
    }

    /// Counts that a document was asked to be purged, whether it was there or not: CouchDB's `purge_seq`.
    static func countRequest(with writer: any StorageWriter) throws {
        let count = try writer.setting(requests).flatMap { Int64($0) } ?? 0
        try writer.setSetting(requests, to: String(count + 1))
    }

    /// The number of times that a document was asked to be purged.
    package static func requestCount(in database: Database) throws -> Int64 {
        try database.setting(requests).flatMap { Int64($0) } ?? 0
    }

    /// The number of documents that were ever purged.
    package static func count(in database: Database) throws -> Int64 {
        try database.setting(counter).flatMap { Int64($0) } ?? 0
    }

    /// The documents purged after so many; `nil` if not all of them are known.
    package static func purged(after seen: Int64, in database: Database) throws -> [DocumentID]? {
        try database.snapshot {
            let count = try count(in: database)
            guard seen <= count, count - seen <= kept else { return nil }
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
