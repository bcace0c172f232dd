internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// A revision that a client pushes in a message `rev`.
struct PushedRevision: Sendable {
    /// The message, which is answered when the revision is stored.
    let message: BLIPMessage
    /// The number of its collection.
    let collection: Int
    let id: DocumentID
    /// The revision and its ancestors, under the names that they have on the server.
    let history: RevisionHistory
    private let document: WireDocument
    /// Whether the revision must not become a branch.
    let isExclusive: Bool
    /// The other leaves that the revision has merged, each of which it closes.
    private let merged: [RevisionHistory]
    private let wanted: [MobileContent]
    /// The attachments of the parent; `nil` if its content is not stored here.
    private let inherited: [DocumentAttachment]?
    /// The stored contents of blobs and attachments, by digest.
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
        // A client may list its blobs among the attachments too; only the members count.
        let blobs = MobileBlob.all(in: document.body)
        let listed = document.attachments.filter { !MobileBlob.isRepeated(by: $0, among: blobs) }
        let stubs = listed.compactMap { MobileContent($0) }
        document.attachments = listed.filter { MobileContent($0) == nil }
        self.document = document
        wanted = blobs.map { MobileContent($0, revpos: place.history.start) } + stubs
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

    /// The documents to store: this one, and tombstones for the branches that it has merged.
    ///
    /// - Throws: ``DatabaseError``.
    func all() throws -> [DocumentWriter.Given] {
        try [complete()]
            + merged.map { leaf in
                let closed = try ClosedBranch(leaf, for: history.revision)
                let end = WireDocument(
                    id: id.string, revision: .revision(closed.history.revision), history: closed.history,
                    isDeleted: true, body: closed.body)
                return (id, end, FollowingContents())
            }
    }

    /// The contents that are not stored here, each digest once.
    var missing: [MobileContent] {
        var seen = Set(contents.keys)
        return wanted.filter { seen.insert($0.digest).inserted }
    }

    /// Adds a content.
    mutating func add(_ content: DocumentAttachment, for digest: String) { contents[digest] = content }

    /// The document to store, with all contents as attachments.
    ///
    /// - Throws: ``DatabaseError`` if an attachment's name or length is invalid.
    func complete() throws -> DocumentWriter.Given {
        var (document, following) = (document, FollowingContents())
        for wanted in wanted {
            guard let content = contents[wanted.digest] else { continue }
            following[wanted.attachmentName] = try content.described(
                as: wanted.attachmentName, contentType: wanted.contentType, revpos: revpos(of: wanted, content))
            document.attachments.append(WireAttachment(wanted.attachmentName, content: .follows()))
        }
        return (id, document, following)
    }

    /// The generation in which an attachment was added. An attachment that the parent has keeps its `revpos`. Any
    /// other is new, even if an older ancestor had it: a peer that has the parent needs its content.
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

// MARK: - PushedPlace

/// The place of a pushed revision in the tree of its document.
///
///     2-b, history 1-a              as it says: 1-a ─ 2-b
///     4-b, history 1-a              1-a ─ 2-b ─ 3-b ─ 4-b: what was between is no longer known to the device
///     a version of a device         a child of the winner if it has seen the state here, else a branch
struct PushedPlace {
    /// The revision and its ancestors, under the names that they have on the server.
    let history: RevisionHistory
    /// The other leaves that the revision has merged, and their ancestors.
    private(set) var merged: [RevisionHistory] = []

    /// Finds the place.
    ///
    /// - Throws: ``BLIPError`` with status 409 for a version that has not seen the state here, if the client wants
    ///   no branches; with status 400 for names that are neither versions nor ids with descending generations, and
    ///   for a version from the future; ``DatabaseError``.
    init(
        _ name: String, history: String, of id: DocumentID, in database: Database, isExclusive: Bool,
        after seen: RevisionHistory? = nil
    ) throws {
        guard name.utf8.contains(UInt8(ascii: "@")) else {
            guard let path = RevisionHistory(name, history: history) ?? Self.bridged(name, history) else {
                throw Self.malformed(id, name)
            }
            self.history = path
            return
        }
        let tree = try database.tree(of: id)
        guard let vector = VersionVector(name, history: history), let place = vector.place(in: tree) else {
            throw Self.malformed(id, name)
        }
        guard vector.current?.isFrom(after: WallTime.now().seconds) != true else {
            throw BLIPError.http(
                400, "the version \(name) of \"\(id)\" is from the future: look at the clock of the device")
        }
        switch place {
        case .known(let known): self.history = tree?.history(of: known) ?? RevisionHistory(known)
        case .branch(let branch):
            // The device has named the winner in its proposal.
            if let seen, let signature = vector.current?.signature,
                let revision = RevisionID(generation: seen.start + 1, signature: signature),
                let next = RevisionHistory([revision] + seen.revisions)
            {
                self.history = next
                return
            }
            let beginsAnew = tree.map { $0.isDeleted && !$0.revisions.contains(where: vector.hasSeen) } ?? true
            guard !isExclusive || beginsAnew else { throw BLIPError.http(409, "the document was changed meanwhile") }
            self.history = branch
        case .next(let next):
            self.history = next
            let others = (tree?.leaves ?? []).filter { !$0.isDeleted && !next.revisions.contains($0.revision) }
            merged = others.map(\.revision).filter(vector.hasSeen).compactMap { tree?.history(of: $0) }
        }
    }

    /// The maximum number of ids that are made up for a history.
    private static let maximumMadeIDs = 1000

    /// A history with missing generations. A tree that was opened with version vectors knows only the last one of
    /// several unsent edits, and the server's id. A tree with more unsent edits than a message may name leaves out
    /// the oldest ones. The ids in between are derived from the signature of the one before.
    private static func bridged(_ name: String, _ history: String) -> RevisionHistory? {
        let names = [name] + history.split(separator: ",").map { String($0).trimmingBlanks() }
        let known = names.compactMap { RevisionID($0) }
        guard known.count == names.count, var last = known.first else { return nil }
        var (path, made) = ([last], 0)
        for next in known.dropFirst() {
            guard next.generation < last.generation else { return nil }
            while last.generation > next.generation + 1 {
                guard made < maximumMadeIDs,
                    let id = RevisionID(generation: last.generation - 1, signature: last.signature)
                else { return nil }
                path.append(id)
                (last, made) = (id, made + 1)
            }
            path.append(next)
            last = next
        }
        return RevisionHistory(path)
    }

    private static func malformed(_ id: DocumentID, _ name: String) -> BLIPError {
        .http(400, "the history of \"\(id)\" at \(name) is neither a version vector, nor does it count down")
    }
}

// MARK: - UpgradedEdits

/// Edits that a device made before its database was opened with version vectors, and that replace the server's
/// revision.
///
///     here      1-a ─┬─ 2-46… ─ 3-deleted     the device knows it as 246f1b47dd4@Revision+Tree+Encoding
///     pushed         └─ 2-a5…                 the winner
///
/// LiteCore compares such an id with a version by generation and digest. If its own id is the greater one, it takes 2-46… for an
/// ancestor: it names it in its proposal, and never pulls it. A refusal would leave the edit on the device for ever. The name
/// 2-a5… can't be a child of 2-46…, so it becomes a branch, and the one of 2-46… is closed.
///
/// LiteCore records by a flag that such an edit has arrived, when it has read the answer. If the edit is offered back before that, it
/// stores the id of the tree in the form of versions, and can't look up the document any more. So a connection does not offer its own
/// edits.
struct UpgradedEdits: Sendable {
    /// A document and the id of the edit.
    struct Edit: Hashable, Sendable {
        let id: DocumentID
        let name: String
    }

    private struct Place: Hashable {
        let collection: Int
        let edit: Edit
    }

    /// The maximum number of edits that may be on their way, and of those that have arrived, in all collections.
    private static let most = 10_000
    /// The maximum length of a revision's name in bytes; Couchbase Lite's own have less than 70.
    private static let longestName = 255

    /// The versions of the server that devices named in their proposals.
    private var versions: [Place: DocumentVersion] = [:]
    /// The edits that have arrived.
    private var arrived: [Int: Set<Edit>] = [:]

    /// Whether a version is the state of a tree, or its winner.
    static func isState(_ version: DocumentVersion, of tree: RevisionTree) -> Bool {
        tree.winner.map { DocumentVersion($0.revision) == version } ?? false
            || VersionVector(tree)?.current == version
    }

    /// Adds an accepted edit.
    ///
    /// - Returns: False if there is no room for it.
    mutating func add(_ edit: Edit, in collection: Int, beside version: DocumentVersion) -> Bool {
        guard versions.count < Self.most, Self.isShort(edit) else { return false }
        versions[Place(collection: collection, edit: edit)] = version
        return true
    }

    /// Records that the device has sent an edit, or proposed one that is here. If it is refused, the device proposes it again. A device
    /// that is known to have a database of trees may be offered its own edits.
    mutating func arrive(_ edit: Edit, in collection: Int, hasTrees: Bool) {
        versions[Place(collection: collection, edit: edit)] = nil
        guard !hasTrees, Self.isShort(edit), !edit.name.utf8.contains(UInt8(ascii: "@")) else { return }
        if arrived.values.reduce(0, { $0 + $1.count }) < Self.most { arrived[collection, default: []].insert(edit) }
    }

    /// Whether a database of Couchbase Lite can have an edit. No other is kept, because ids and names may be of any length.
    private static func isShort(_ edit: Edit) -> Bool {
        MobileLimits.fault(in: edit.id) == nil && edit.name.utf8.count <= longestName
    }

    /// The edits of a collection that have arrived in this connection.
    func arrived(in collection: Int) -> Set<Edit> { arrived[collection] ?? [] }

    /// The server's revision that an edit replaces, if the edit was accepted and that revision is still the one that the device
    /// named.
    ///
    /// - Throws: ``DatabaseError``.
    func replaced(
        by edit: Edit, in collection: Int, of database: Database
    ) throws -> (history: RevisionHistory, isDeleted: Bool)? {
        guard let version = versions[Place(collection: collection, edit: edit)],
            let tree = try database.tree(of: edit.id), Self.isState(version, of: tree), let winner = tree.winner
        else { return nil }
        return tree.history(of: winner.revision).map { ($0, winner.isDeleted) }
    }
}
