internal import Foundation
internal import SettleCore
internal import SettleDatabase
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
    func document(_ row: Row) throws -> ForeignDocument {
        guard let id = row.key.flatMap({ DocumentID($0) }), !id.isLocal else {
            return Self.unreadable(
                row.key ?? "(a document without an id)", row.sequence, "the document has no valid id")
        }
        var document: ForeignDocument
        do {
            document = row.version.first == 0 ? try versions(of: row, id) : try tree(of: row, id)
        } catch let error as FleeceError {
            document = Self.unreadable(id.string, row.sequence, "the document is damaged: \(error)")
        }
        document.expiration = row.expiration.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        return document
    }

    // MARK: Trees

    /// What a tree says of a revision.
    private struct Entry {
        var isDeleted: Bool
        /// The body, and the one to which its pointers may lead; `nil` if it is not in the file.
        var body: (bytes: [UInt8], base: [UInt8])?
    }

    private func tree(of row: Row, _ id: DocumentID) throws -> ForeignDocument {
        guard let current = LiteCoreTree.revision(row.version[...]) else {
            throw FleeceError("its version is not valid")
        }
        var recorded = RecordedRevisions<Entry>()
        var remote: RevisionID?
        let isInBody = row.extra.isEmpty && LiteCoreTree.isTree(row.body)
        if row.extra.isEmpty, !isInBody {
            // A document without other revisions.
            recorded.add(current, parent: nil, Entry(isDeleted: row.flags & Flag.deleted != 0, body: (row.body, [])))
        } else {
            let stored = try LiteCoreTree(isInBody ? row.body : row.extra)
            for (index, record) in stored.records.enumerated() {
                let parent = try record.parent.map { parent in
                    guard stored.records.indices.contains(parent) else {
                        throw FleeceError("a parent is not in the tree")
                    }
                    return stored.records[parent].revision
                }
                // The current revision's body is a column of its own, to which other bodies may point.
                let isCurrent = index == 0 && !isInBody
                let body = isCurrent ? (row.body, []) : record.body.map { ($0, isInBody ? [] : row.body) }
                recorded.add(record.revision, parent: parent, Entry(isDeleted: record.isDeleted, body: body))
            }
            remote = stored.remotes[UInt16(Self.server)].map { stored.records[$0].revision }
        }
        var document = try document(of: recorded.tree, row, id)
        if let winner = recorded.tree.winner(isDeleted: \.isDeleted), winner != current, recorded[current] != nil {
            document.shown = current
        }
        let hasCurrent = row.flags & Flag.synced != 0 || remote == current
        document.server = ForeignServerState(
            hasCurrent: hasCurrent, signature: hasCurrent ? current.signature : remote?.signature)
        return document
    }

    private func document(of tree: ForeignTree<Entry>, _ row: Row, _ id: DocumentID) throws -> ForeignDocument {
        let leaves = tree.leafRevisions
        var faults: [ForeignFault] = []
        var document = try tree.document(id: id, sequence: row.sequence, isDeleted: \.isDeleted) { node in
            guard let body = node.content.body else { return nil }
            var (content, losses) = (ForeignContent(body: .empty, isDeleted: node.content.isDeleted), [ForeignFault]())
            try fill(&content, body.bytes, base: body.base, node.revision, faults: &losses)
            if leaves.contains(node.revision) {
                faults += losses
                return content
            }
            // A base is a help for merges; one that is not whole is left out.
            return losses.isEmpty && !content.attachments.contains(where: \.isMissing) ? content : nil
        }
        document.faults += faults
        return document
    }

    // MARK: Version vectors

    private func versions(of row: Row, _ id: DocumentID) throws -> ForeignDocument {
        let versions = try LiteCoreVersions(row.version, device: device)
        var document = ForeignDocument(id: id, sequence: row.sequence, leaves: [])
        let current = versions.history.revision
        addLeaf(versions.history, row.flags, to: &document) { content, faults in
            try fill(&content, row.body, base: [], current, faults: &faults)
        }
        let copies = try copiesOfPeers(row)
        for (peer, copy) in copies where peer > 0 && copy.flags & Flag.conflicted != 0 {
            guard let history = copy.history, history.revision != current,
                !document.leaves.contains(where: { $0.revision == history.revision })
            else { continue }
            addLeaf(history, copy.flags, to: &document) { content, faults in
                try fill(&content, json: copy.body, history.revision, faults: &faults)
            }
        }
        let live = document.leaves.filter { !$0.isDeleted }
        if let winner = (live.isEmpty ? document.leaves : live).map(\.revision).max() {
            if winner != current { document.shown = current }
            for index in document.leaves.indices where document.leaves[index].revision == winner {
                document.leaves[index].isDeletionAtSource = live.isEmpty
            }
        }
        let remote = copies.first { $0.peer == Self.server }?.copy.history?.revision.signature
        let hasCurrent = row.flags & Flag.synced != 0 || remote == versions.signature
        document.server = ForeignServerState(
            hasCurrent: hasCurrent, signature: hasCurrent ? versions.signature : remote)
        document.hasVersions = true
        return document
    }

    private func addLeaf(
        _ history: RevisionHistory, _ flags: Int64, to document: inout ForeignDocument,
        fill: (inout ForeignContent, inout [ForeignFault]) throws -> Void
    ) {
        var content = ForeignContent(body: .empty, isDeleted: flags & Flag.deleted != 0)
        do { try fill(&content, &document.faults) } catch {
            document.faults.append(ForeignFault(revision: history.revision, message: "\(error)"))
            return
        }
        document.leaves.append(
            Revision(
                id: document.id, history: history, isDeleted: content.isDeleted, body: content.body,
                attachments: content.attachments))
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
        let extra = try Self.value(
            Fleece(row.extra, base: row.body, sharedKeys: sharedKeys).json().text)
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

    /// JSON that was made here.
    private static func value(_ text: [UInt8]) throws(FleeceError) -> JSONValue {
        do { return try JSONValue(utf8: text) } catch { throw FleeceError("it is not JSON: \(error)") }
    }

    /// Reads the body and the attachments of a revision.
    ///
    /// - Throws: ``ForeignFileError`` with code `damaged`. A tombstone is one without its body, and has a fault then.
    private func fill(
        _ content: inout ForeignContent, _ bytes: [UInt8], base: [UInt8], _ revision: RevisionID,
        faults: inout [ForeignFault]
    ) throws {
        guard !bytes.isEmpty else { return }
        do {
            let (text, hasLostNumber) = try Fleece(bytes, base: base, sharedKeys: sharedKeys).json()
            try fill(&content, json: text, revision, faults: &faults)
            guard hasLostNumber else { return }
            faults.append(ForeignFault(revision: revision, message: "a number that is not finite became null"))
        } catch {
            let message = "the body is damaged: \(error)"
            guard content.isDeleted else { throw ForeignFileError(.damaged, message) }
            faults.append(ForeignFault(revision: revision, message: message))
        }
    }

    /// Reads the body and the attachments of a revision. Other members whose names are reserved are faults, for they are lost.
    private func fill(
        _ content: inout ForeignContent, json: [UInt8], _ revision: RevisionID, faults: inout [ForeignFault]
    ) throws {
        guard !json.isEmpty else { return }
        let read = try DocumentReader.read(json, allowsReserved: true)
        for member in read.reserved where !WireDocument.metadataNames.contains(member.name) {
            guard member.name == WireAttachment.listName else {
                faults.append(.reserved(member.name, in: revision))
                continue
            }
            for entry in try JSONValue(utf8: member.value).object ?? [:] {
                content.attachments.append(attachment(entry.name, entry.value))
            }
        }
        content.body = read.body
        for blob in MobileBlob.all(in: read.body) {
            // Sync Gateway lists the blobs among the attachments, too.
            content.attachments.removeAll { $0.name.hasSameBytes(as: blob.attachmentName) }
            var attachment = ForeignAttachment(
                name: blob.attachmentName, contentType: blob.contentType, length: max(blob.length, 0), revpos: 0,
                digest: nil, place: .missing(""))
            setContent(
                of: &attachment, blob.digest, data: Self.value(at: blob.path, of: read.body)?["data"]?.string)
            content.attachments.append(attachment)
        }
    }

    /// The value of a body at a JSON pointer.
    private static func value(at path: String, of body: DocumentBody) -> JSONValue? {
        var value: JSONValue? = body.json
        for name in path.pointerParts {
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
