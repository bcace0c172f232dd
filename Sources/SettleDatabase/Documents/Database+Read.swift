public import SettleCore

extension Database {
    /// The document's winner, which every peer picks. `nil` if there is none or the document is deleted.
    ///
    /// The id may be a ``DocumentID``, a `String`, or the id of a model. With ``DatabaseOptions/Reads/local`` it is the local leaf while
    /// the document is in conflict.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for what can't be an id, `damagedDocument`, `corrupt`, `inputOutput` or
    ///   `closed`.
    /// - Complexity: O(log *n*) in documents.
    public func document(_ id: some DocumentIDConvertible) throws -> Document? {
        try current(id.ofDocument()).flatMap { $0.isDeleted ? nil : $0 }
    }

    /// The state of a document that the app reads and edits, by ``DatabaseOptions/reads``; `nil` if there is no document.
    func current(_ id: DocumentID) throws -> Document? {
        func document(_ node: RevisionNode, _ content: RevisionContent) -> Document {
            Document(id: id, revision: node.revision, isDeleted: node.isDeleted, content, origin: identity)
        }
        switch options.reads {
        case .winner:
            guard let record = try engine.read({ try $0.record(of: id, withContent: true) }),
                let winner = record.tree.winner, let content = record.content
            else { return nil }
            return document(winner, content)
        case .local:
            return try engine.snapshot { reader in
                guard let record = try reader.record(of: id, withContent: true),
                    let node = options.reads.current(in: record.tree)
                else { return nil }
                return try reader.content(of: node, in: record).map { document(node, $0) }
            }
        }
    }

    /// A document at one of its revisions, tombstones included; `nil` if the content of that revision is not kept (see
    /// `compact(keepingOldContentsFor:progress:)`) or the revision is unknown.
    public func document(_ id: some DocumentIDConvertible, revision: RevisionID) throws -> Document? {
        let id = try id.ofDocument()
        return try engine.snapshot { reader in
            guard let record = try reader.storedRecord(of: id, withContent: true)?.checkedTree(),
                let node = record.tree[revision]
            else {
                return nil
            }
            guard let content = try reader.content(of: node, in: record) else { return nil }
            return Document(id: id, revision: revision, isDeleted: node.isDeleted, content, origin: identity)
        }
    }

    /// The document of a record: its winner, with an empty body if the content is not there.
    package func winner(of record: DocumentRecord) -> Document {
        let winner = record.tree.winner
        return Document(
            id: record.id, revision: winner?.revision, isDeleted: winner?.isDeleted ?? false,
            record.content ?? RevisionContent(body: .empty), origin: identity)
    }

    /// The revision tree of a document, also of a deleted one; `nil` if there is none.
    public func tree(of id: some DocumentIDConvertible) throws -> RevisionTree? {
        let id = try id.ofDocument()
        return try engine.read { try $0.record(of: id, withContent: false)?.tree }
    }

    /// The document at each of its leaves, winner first, tombstones included; empty for an unknown document
    /// (SEMANTICS 60, 143).
    public func leaves(of id: some DocumentIDConvertible) throws -> [Document] {
        let id = try id.ofDocument()
        return try engine.snapshot { reader in
            guard let record = try reader.record(of: id, withContent: true) else { return [] }
            return try record.tree.leaves.compactMap { node in
                try reader.content(of: node, in: record).map {
                    Document(id: id, revision: node.revision, isDeleted: node.isDeleted, $0, origin: identity)
                }
            }
        }
    }

    /// Documents in the byte order of their ids, without deleted ones. Damaged documents are left out and reported to
    /// ``DatabaseOptions/warn``.
    ///
    /// - Parameters:
    ///   - range: The range of ids; all unless given.
    ///   - limit: The maximum number; all unless given, which takes memory for all of them.
    /// - Returns: The documents.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    public func documents(in range: DocumentRange = DocumentRange(), limit: Int? = nil) throws -> [Document] {
        var documents: [Document] = []
        try forEachDocument(in: range) { document in
            if let limit, documents.count >= limit { return false }
            documents.append(document)
            return true
        }
        return documents
    }

    /// Calls a closure for each document in the byte order of their ids, without deleted ones, until it returns
    /// `false`. Memory is bounded; each page of documents is a snapshot of the database. Damaged documents are left out
    /// and reported to ``DatabaseOptions/warn``.
    public func forEachDocument(
        in range: DocumentRange = DocumentRange(), _ body: (Document) throws -> Bool
    ) throws {
        var rest = range
        while true {
            let page = try engine.read { try $0.records(in: rest, limit: 500, withContent: true) }
            for record in noting(page) {
                guard let winner = record.tree.winner, !winner.isDeleted, let content = record.content else {
                    continue
                }
                let document = Document(
                    id: record.id, revision: winner.revision, isDeleted: false, content, origin: identity)
                guard try body(document) else { return }
            }
            guard let last = page.last else { return }
            if range.descending { rest.before = last.id } else { rest.after = last.id }
        }
    }

    /// The ids of documents in conflict, ascending, each once (SEMANTICS 66, 67).
    ///
    /// - Parameters:
    ///   - kind: The kind of conflict; between two or more live leaves unless given.
    ///   - after: The id to start after; `nil` for the beginning.
    ///   - limit: The maximum number; all unless given. If there may be very many, read them page by page.
    /// - Returns: The ids.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    /// - Complexity: O(*k*) in ids returned; an index has them.
    public func conflictedDocumentIDs(
        _ kind: ConflictKind = .branches, after: DocumentID? = nil, limit: Int = .max
    ) throws -> [DocumentID] {
        try conflictedDocumentIDs(kind, in: DocumentRange(after: after), limit: limit)
    }

    /// How many documents are in conflict of some kinds.
    ///
    /// - Complexity: O(1) in the documents; the engine keeps the counts.
    package func conflictCount(_ kinds: Set<ConflictKind>) throws -> Int {
        try engine.read { reader in
            try kinds.reduce(0) { try $0 + reader.count(.conflicted($1, DocumentRange())) }
        }
    }

    /// The ids of documents in conflict in a range; otherwise as ``conflictedDocumentIDs(_:after:limit:)``.
    package func conflictedDocumentIDs(
        _ kind: ConflictKind, in range: DocumentRange, limit: Int
    ) throws -> [DocumentID] {
        try engine.read { try $0.ids(.conflicted(kind, range), limit: max(limit, 0)) }
    }
}

extension DatabaseOptions.Reads {
    /// The leaf of a document that the app reads and edits; `nil` for an empty tree.
    func current(in tree: RevisionTree) -> RevisionNode? {
        switch self {
        case .winner: return tree.winner
        case .local:
            let leaves = Conflict.revisions(in: tree, Set(ConflictKind.allCases)).compactMap { tree[$0] }
            return leaves.first { !$0.marks.contains(.incoming) } ?? tree.winner
        }
    }
}
