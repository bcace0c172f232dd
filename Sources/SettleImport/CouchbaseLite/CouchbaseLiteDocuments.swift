internal import Foundation
internal import SettleCore
internal import SettleMobile
internal import SettlePlatform

/// Makes documents of rows of Couchbase Lite 2 to 4.
struct CouchbaseLiteDocuments {
    /// A row of a collection's table.
    struct Row {
        let key: String?
        let sequence: UInt64
        let flags: Int64
        let version: [UInt8]
        let body: [UInt8]
        let extra: [UInt8]
        /// In milliseconds since 1970.
        let expiration: Int64?
    }

    /// The folder of the database.
    private let folder: URL
    private let device: [UInt8]
    private let sharedKeys: [String]
    /// The folders that may have contents of blobs.
    private let blobFolders: [URL]

    /// The peer whose state says what a server has: the first one that the app replicated with.
    private static let server = 1
    /// Flags of a document, also of a peer's copy.
    private enum Flag {
        static let deleted: Int64 = 1
        static let conflicted: Int64 = 2
        static let synced: Int64 = 8
    }

    init(folder: URL, device: [UInt8], sharedKeys: [String]) {
        (self.folder, self.device, self.sharedKeys) = (folder, device, sharedKeys)
        blobFolders = ["Attachments", "attachments"].map { folder.appending(path: $0) }
    }

    /// A document of which only the fault is known.
    static func unreadable(_ name: String, _ sequence: UInt64, _ message: String) -> ForeignDocument {
        var document = ForeignDocument(id: DocumentID(unchecked: name), sequence: sequence, leaves: [])
        document.faults.append(ForeignFault(revision: nil, message: message))
        return document
    }

    /// The document of a row. What can't be read is among its faults.
    func document(_ row: Row) -> ForeignDocument {
        guard let id = row.key.flatMap({ DocumentID($0) }), !id.isLocal else {
            return Self.unreadable(
                row.key ?? "(a document without an id)", row.sequence, "the document has no valid id")
        }
        var document = ForeignDocument(id: id, sequence: row.sequence, leaves: [])
        do {
            if row.version.first == 0 {
                try readVersions(row, into: &document)
            } else {
                try readTree(row, into: &document)
            }
        } catch {
            document.faults.append(ForeignFault(revision: nil, message: "the document is damaged: \(error)"))
        }
        document.expiration = row.expiration.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        return document
    }

    // MARK: Trees

    private func readTree(_ row: Row, into document: inout ForeignDocument) throws {
        guard let current = LiteCoreTree.revision(row.version[...]) else {
            throw FleeceError("its version is not valid")
        }
        let isInBody = row.extra.isEmpty && LiteCoreTree.isTree(row.body)
        if row.extra.isEmpty, !isInBody {
            // A document without other revisions.
            var tree = RecordedRevisions()
            tree.add(current, parent: nil, isDeleted: row.flags & Flag.deleted != 0)
            addLeaves(of: tree, into: &document) { _ in (row.body, []) }
            return setServer(of: row, nil, current, &document)
        }
        let stored = try LiteCoreTree(isInBody ? row.body : row.extra)
        var (tree, indices) = (RecordedRevisions(), [RevisionID: Int]())
        for (index, record) in stored.records.enumerated() {
            let parent = try record.parent.map { parent in
                guard stored.records.indices.contains(parent) else { throw FleeceError("a parent is not in the tree") }
                return stored.records[parent].revision
            }
            tree.add(record.revision, parent: parent, isDeleted: record.isDeleted)
            indices[record.revision] = indices[record.revision] ?? index
        }
        addLeaves(of: tree, into: &document) { revision in
            guard let index = indices[revision] else { return nil }
            // The current revision's body is a column of its own, to which other bodies may point.
            if index == 0, !isInBody { return (row.body, []) }
            return stored.records[index].body.map { ($0, isInBody ? [] : row.body) }
        }
        if let winner = tree.winner, winner != current, tree.nodes[current] != nil { document.shown = current }
        setServer(of: row, stored.remotes[UInt16(Self.server)].map { stored.records[$0].revision }, current, &document)
    }

    private func setServer(
        of row: Row, _ remote: RevisionID?, _ current: RevisionID, _ document: inout ForeignDocument
    ) {
        let hasCurrent = row.flags & Flag.synced != 0 || remote == current
        document.server = ForeignServerState(
            hasCurrent: hasCurrent, signature: hasCurrent ? current.signature : remote?.signature)
    }

    /// Adds the leaves of a tree, and the bases of merges.
    private func addLeaves(
        of tree: RecordedRevisions, into document: inout ForeignDocument,
        body: (RevisionID) -> (bytes: [UInt8], base: [UInt8])?
    ) {
        let winner = tree.winner
        for leaf in tree.leaves {
            let isDeleted = tree.nodes[leaf]?.isDeleted ?? false
            var revision = Revision<ForeignAttachment>(
                id: document.id, history: tree.history(of: leaf), isDeleted: isDeleted)
            guard let bytes = body(leaf) ?? (isDeleted ? ([], []) : nil) else {
                document.faults.append(ForeignFault(revision: leaf, message: "the body is not in the file"))
                continue
            }
            guard fill(&revision, bytes.bytes, base: bytes.base, faults: &document.faults) else { continue }
            revision.isDeletionAtSource = revision.isDeleted && leaf == winner
            document.leaves.append(revision)
        }
        for point in tree.branchPoints {
            var base = Revision<ForeignAttachment>(
                id: document.id, history: tree.history(of: point), isDeleted: tree.nodes[point]?.isDeleted ?? false)
            var faults: [ForeignFault] = []
            // A base is a help for merges; one that is not whole is none.
            guard let bytes = body(point), fill(&base, bytes.bytes, base: bytes.base, faults: &faults), faults.isEmpty,
                !base.attachments.contains(where: \.isMissing)
            else { continue }
            document.bases.append(base)
        }
    }

    // MARK: Version vectors

    private func readVersions(_ row: Row, into document: inout ForeignDocument) throws {
        let versions = try LiteCoreVersions(row.version, device: device)
        var leaf = Revision<ForeignAttachment>(
            id: document.id, history: versions.history, isDeleted: row.flags & Flag.deleted != 0)
        if fill(&leaf, row.body, base: [], faults: &document.faults) { document.leaves.append(leaf) }
        let copies = try copiesOfPeers(row)
        for (peer, copy) in copies where peer > 0 && copy.flags & Flag.conflicted != 0 {
            guard let history = copy.history, history.revision != leaf.revision else { continue }
            var other = Revision<ForeignAttachment>(
                id: document.id, history: history, isDeleted: copy.flags & Flag.deleted != 0)
            guard !document.leaves.contains(where: { $0.revision == other.revision }),
                fill(&other, json: copy.body, faults: &document.faults)
            else { continue }
            document.leaves.append(other)
        }
        let winner = document.leaves.max { left, right in
            left.isDeleted == right.isDeleted ? left.revision < right.revision : left.isDeleted
        }
        if let winner {
            if winner.revision != leaf.revision { document.shown = leaf.revision }
            for index in document.leaves.indices where document.leaves[index].revision == winner.revision {
                document.leaves[index].isDeletionAtSource = winner.isDeleted
            }
        }
        let remote = copies.first { $0.peer == Self.server }?.copy.history?.revision.signature
        let hasCurrent = row.flags & Flag.synced != 0 || remote == versions.signature
        document.server = ForeignServerState(
            hasCurrent: hasCurrent, signature: hasCurrent ? versions.signature : remote)
    }

    /// A peer's copy of a document.
    private struct Copy {
        var history: RevisionHistory?
        var flags: Int64
        /// The body as JSON; empty if there is none.
        var body: [UInt8]
    }

    private func copiesOfPeers(_ row: Row) throws -> [(peer: Int, copy: Copy)] {
        guard !row.extra.isEmpty, !LiteCoreTree.isTree(row.extra) else { return [] }
        let extra = try JSONValue(
            utf8: Fleece(row.extra, base: row.body, sharedKeys: sharedKeys).json().text)
        guard let array = extra.array else { throw FleeceError("the copies of peers are not an array") }
        return try array.enumerated().filter { $0.element.object != nil }.map { peer, value in
            let version = value["@"]?.string.flatMap { Base64.decode($0.utf8) } ?? []
            let history =
                if version.isEmpty {
                    RevisionHistory?.none
                } else if version.first == 0 {
                    try LiteCoreVersions(version, device: device).history
                } else {
                    LiteCoreTree.revision(version[...]).map { RevisionHistory($0) }
                }
            return (peer, Copy(history: history, flags: Int64(value["&"]?.int ?? 0), body: value["."]?.utf8 ?? []))
        }
    }

    // MARK: Bodies

    /// Reads the body and the attachments of a revision.
    ///
    /// - Returns: Whether the revision can be imported.
    private func fill(
        _ revision: inout Revision<ForeignAttachment>, _ bytes: [UInt8], base: [UInt8], faults: inout [ForeignFault]
    ) -> Bool {
        guard !bytes.isEmpty else { return true }
        do throws(FleeceError) {
            let (text, hasLostNumber) = try Fleece(bytes, base: base, sharedKeys: sharedKeys).json()
            if hasLostNumber {
                faults.append(
                    ForeignFault(revision: revision.revision, message: "a number that is not finite became null"))
            }
            return fill(&revision, json: text, faults: &faults)
        } catch {
            faults.append(ForeignFault(revision: revision.revision, message: "the body is damaged: \(error)"))
            // A tombstone says all that counts without a body.
            return revision.isDeleted
        }
    }

    private func fill(
        _ revision: inout Revision<ForeignAttachment>, json: [UInt8], faults: inout [ForeignFault]
    ) -> Bool {
        guard !json.isEmpty else { return true }
        do {
            let read = try DocumentReader.read(json, allowsReserved: true)
            revision.body = read.body
            for member in read.reserved {
                if member.name == WireAttachment.listName {
                    for entry in try JSONValue(utf8: member.value).object ?? [:] {
                        revision.attachments.append(attachment(entry.name, entry.value))
                    }
                }
            }
            for blob in MobileBlob.all(in: read.body) {
                // Sync Gateway lists the blobs among the attachments, too.
                revision.attachments.removeAll { $0.name == blob.attachmentName }
                var attachment = ForeignAttachment(
                    name: blob.attachmentName, contentType: blob.contentType, length: max(blob.length, 0), revpos: 0,
                    digest: nil, place: .missing(""))
                setContent(
                    of: &attachment, blob.digest, data: Self.value(at: blob.path, of: read.body)?["data"]?.string)
                revision.attachments.append(attachment)
            }
            return true
        } catch {
            faults.append(ForeignFault(revision: revision.revision, message: "the body is not a document: \(error)"))
            return revision.isDeleted
        }
    }

    /// The value of a body at a JSON pointer.
    private static func value(at path: String, of body: DocumentBody) -> JSONValue? {
        var value: JSONValue? = body.json
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            value = if let index = Int(name), value?.array != nil { value?[index] } else { value?[name] }
        }
        return value
    }

    // MARK: Blobs

    /// An attachment of the old style, a member of `_attachments`.
    private func attachment(_ name: String, _ value: JSONValue) -> ForeignAttachment {
        var attachment = ForeignAttachment(
            name: name, contentType: value["content_type"]?.string ?? WireAttachment.defaultType,
            length: max(value["length"]?.int.map(Int64.init) ?? 0, 0),
            revpos: value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? 0, digest: nil, place: .missing(""))
        setContent(of: &attachment, value["digest"]?.string ?? "", data: value["data"]?.string)
        return attachment
    }

    /// Finds the content of a blob.
    private func setContent(of attachment: inout ForeignAttachment, _ text: String, data: String?) {
        let digest = text.hasPrefix("sha1-") ? Base64.decode(text.utf8.dropFirst("sha1-".utf8.count)) : nil
        if let digest, digest.count == 20 { attachment.digest = .sha1(digest) }
        if let data {
            guard let bytes = Base64.decode(data.utf8) else {
                attachment.place = .missing("its content is not valid base64")
                return
            }
            (attachment.place, attachment.length) = (.bytes(bytes), Int64(bytes.count))
            return
        }
        guard let digest, digest.count == 20 else {
            attachment.place = .missing("its digest \(text.debugDescription) is not one of Couchbase Lite")
            return
        }
        let name = Base64.encode(digest).replacing("/", with: "_") + ".blob"
        let file = blobFolders.map { $0.appending(path: name) }.first { FileStatus(path: $0.path)?.isRegular == true }
        attachment.place = file.map { .file($0) } ?? .missing("the file with the content, \(name), is missing")
    }
}
