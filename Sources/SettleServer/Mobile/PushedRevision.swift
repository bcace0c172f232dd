internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// A revision that a client pushes, as the message `rev` has it.
struct PushedRevision: Sendable {
    /// The message, which is answered once the revision is stored.
    let message: BLIPMessage
    /// The number of its collection.
    let collection: Int
    let id: DocumentID
    /// The revision under the name that it has here, and its ancestors.
    let history: RevisionHistory
    private let document: WireDocument
    /// Whether it must not become a branch.
    let isExclusive: Bool
    /// The other leaves that the revision has seen, which it ends.
    private let merged: [RevisionHistory]
    private let wanted: [MobileContent]
    /// The attachments of the parent; `nil` if its content is not here.
    private let inherited: [DocumentAttachment]?
    /// The contents of blobs and attachments that are here, by their digests.
    private var contents: [String: DocumentAttachment]

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - database: The database of the collection.
    ///   - collection: The number of the collection.
    ///   - limit: The maximum size of the document in bytes.
    ///   - upgrades: The edits that replace the server's revision.
    ///   - digests: The known SHA-1 digests of attachments.
    /// - Throws: ``BLIPError`` with status 400 or 422, ``HTTPError``, ``DatabaseError``.
    init(
        _ message: BLIPMessage, in database: Database, collection: Int, limit: Int,
        upgrades: UpgradedEdits = UpgradedEdits(), digests: ContentDigests = ContentDigests()
    ) throws {
        (self.message, self.collection) = (message, collection)
        guard let text = message.properties["id"], let name = message.properties["rev"] else {
            throw BLIPError.http(400, "a revision needs `id` and `rev`")
        }
        id = try WireDocument.checked(text)
        guard !id.isLocal else { throw BLIPError.http(400, "\"\(text)\" is local and does not replicate") }
        guard message.properties["deltaSrc"] == nil else { throw BLIPError.http(422, "deltas are not taken") }
        let replaced = try upgrades.replaced(
            by: UpgradedEdits.Edit(id: id, name: name), in: collection, of: database)
        isExclusive = message.flag("noconflicts") && replaced?.isDeleted != true
        let ancestors = message.properties["history"] ?? ""
        let isVersion = name.utf8.contains(UInt8(ascii: "@"))
        let place = try PushedPlace(
            name, history: ancestors, of: id, in: database, isExclusive: isExclusive,
            after: isVersion ? replaced?.history : nil)
        history = place.history
        let closed = replaced.flatMap { $0.isDeleted || isVersion ? nil : $0.history }
        merged = place.merged + [closed].compactMap(\.self)
        var document = try WireDocument(message.body.isEmpty ? Array("{}".utf8) : message.body, limit: limit)
        document.id = text
        document.isDeleted = message.flag("deleted")
        document.history = history
        document.revision = .revision(history.revision)
        // A client may name its blobs among the attachments, too; the members count.
        let listed = document.attachments.filter { !$0.name.hasPrefix(MobileBlob.prefix) }
        let stubs = listed.compactMap { MobileContent($0) }
        document.attachments = listed.filter { MobileContent($0) == nil }
        self.document = document
        wanted = MobileBlob.all(in: document.body).map { MobileContent($0, revpos: place.history.start) } + stubs
        let parent = history.revisions.dropFirst().first
        inherited =
            wanted.isEmpty
            ? nil : parent.flatMap { [id] in try? database.document(id, revision: $0)?.attachments }
        contents =
            wanted.isEmpty
            ? [:]
            : try MobileAttachments(database: database, digests: digests).known(
                Set(wanted.map(\.digest)), history.revisions, of: id, readsAll: !stubs.isEmpty)
    }

    /// The documents to store: this one, and the ends of the branches that it has merged.
    ///
    /// - Throws: ``DatabaseError``.
    func all() throws -> [(DocumentID, WireDocument)] {
        try [(id, complete())]
            + merged.map { leaf in
                let closed = try ClosedBranch(leaf, for: history.revision)
                var end = try WireDocument(closed.body.utf8, limit: closed.body.utf8.count)
                (end.id, end.isDeleted) = (id.string, true)
                (end.history, end.revision) = (closed.history, .revision(closed.history.revision))
                return (id, end)
            }
    }

    /// The contents that are not here, each digest once.
    var missing: [MobileContent] {
        var seen = Set(contents.keys)
        return wanted.filter { seen.insert($0.digest).inserted }
    }

    /// Takes a content.
    mutating func take(_ content: DocumentAttachment, for digest: String) { contents[digest] = content }

    /// The document to store, with all contents as attachments.
    ///
    /// - Throws: ``DatabaseError`` for a name or a length that no attachment may have.
    func complete() throws -> WireDocument {
        var document = document
        document.attachments += try wanted.compactMap { wanted in
            try contents[wanted.digest].map { content in
                WireAttachment(
                    try content.described(
                        as: wanted.attachmentName, contentType: wanted.contentType, revpos: revpos(of: wanted, content))
                )
            }
        }
        return document
    }

    /// The generation that an attachment was added with. One that the parent has keeps its `revpos`. One that the parent has not is
    /// new, also if an older ancestor had it: a peer that has the parent needs its content.
    private func revpos(of wanted: MobileContent, _ content: DocumentAttachment) -> UInt64 {
        if let inherited {
            let known = inherited.first {
                $0.name.utf8.elementsEqual(wanted.attachmentName.utf8) && $0.digest == content.digest
            }
            return known?.revpos ?? history.start
        }
        let isCarried = content.revpos > 0 && content.name.utf8.elementsEqual(wanted.attachmentName.utf8)
        return isCarried ? content.revpos : wanted.revpos
    }
}
