public import SettleCore
internal import SettlePlatform

/// A document in a storage engine: its revision tree and the content of the winner.
public struct DocumentRecord: Sendable {
    /// The document's id.
    public var id: DocumentID
    /// The position of its last change; the engine assigns it when the record is written.
    public var sequence: UpdateSequence
    /// All its revisions.
    public var tree: RevisionTree
    /// The winner's content; `nil` if the reader did not request it.
    public var content: RevisionContent?
    /// The error because of which the tree, which is then empty, or the winner's content can't be read; `nil` for an intact
    /// document.
    public var damage: DatabaseError? {
        get { failure as? DatabaseError }
        set { failure = newValue }
    }
    /// The same, in one word: almost no document has an error, and a `DatabaseError` would make each record larger.
    private var failure: (any Error)?

    /// Creates a record.
    public init(id: DocumentID, sequence: UpdateSequence, tree: RevisionTree, content: RevisionContent?) {
        self.id = id
        self.sequence = sequence
        self.tree = tree
        self.content = content
    }
}

// MARK: - Stored

/// Reads and writes documents as engines store them. Of a damaged document it reads what it can.
extension DocumentRecord {
    /// The version of a stored tree that begins with a checksum.
    private static let checkedVersion: UInt8 = 2

    /// The revision tree as it is stored: a version, the checksum of the id and the packed tree, and the packed tree.
    package var storedTree: [UInt8] {
        let start = 1 + Checksum.length
        var bytes = tree.packed(after: start)
        bytes[0] = Self.checkedVersion
        let sum = bytes.withUnsafeBytes { Self.checksum(of: UnsafeRawBufferPointer(rebasing: $0[start...]), id) }
        bytes.withUnsafeMutableBytes { sum.write(to: $0, at: 1) }
        return bytes
    }

    /// A document with its stored tree, without a content. A tree that an earlier version stored has no checksum.
    package init(id: DocumentID, sequence: UpdateSequence, storedTree bytes: UnsafeRawBufferPointer) {
        self.init(id: id, sequence: sequence, tree: RevisionTree(), content: nil)
        do {
            let read = try RevisionTree(packed: try Self.packedTree(in: bytes, id))
            guard !read.isEmpty else { throw DatabaseError(.corrupt, "it has no revision") }
            tree = read
        } catch { damage = .damaged(id, "its revision tree", cause: error) }
    }

    private static func packedTree(
        in bytes: UnsafeRawBufferPointer, _ id: DocumentID
    ) throws -> UnsafeRawBufferPointer {
        let start = 1 + Checksum.length
        guard bytes.first == checkedVersion, bytes.count >= start else { return bytes }
        let tree = UnsafeRawBufferPointer(rebasing: bytes[start...])
        guard checksum(of: tree, id).isWritten(in: bytes, at: 1) else {
            throw DatabaseError(.corrupt, "its checksum is not that of what is stored")
        }
        return tree
    }

    private static func checksum(of tree: UnsafeRawBufferPointer, _ id: DocumentID) -> Checksum {
        var sum = Checksum()
        var name = id.string
        name.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
        sum.add(tree)
        return sum
    }

    /// A document whose id is damaged. It has no revisions, so no caller mistakes it for a document.
    package init(damagedID text: String, _ sequence: UpdateSequence) {
        self.init(
            id: DocumentID(unchecked: text.isEmpty ? "?" : text), sequence: sequence, tree: RevisionTree(), content: nil
        )
        damage = DatabaseError(
            .damagedDocument, "the document at position \(sequence) of the changes is damaged: its id is not UTF-8")
    }

    /// Adds the winner's content from its stored attachments and its body.
    ///
    /// A content that an earlier version stored has no checksum. If its revision was made here, the revision id is the hash of the
    /// content and is compared instead.
    package mutating func readContent(attachments: UnsafeRawBufferPointer, body: [UInt8]) {
        do {
            let read = try RevisionContent(storedAttachments: attachments, body: body)
            if !RevisionContent.hasChecksum(attachments), let winner = tree.winner,
                let expected = RevisionHasher().revision(of: read, as: winner, in: tree), expected != winner.revision
            {
                throw DamagedAttachments("its content hashes to \(expected)", in: Array(attachments))
            }
            content = read
        } catch {
            if damage == nil { damage = .damaged(id, "its content", cause: error) }
        }
    }
}

extension RevisionContent {
    /// The version of stored attachments that begin with a checksum. An earlier version stored their list alone, or nothing.
    private static let checkedVersion: UInt8 = 2

    /// Whether stored attachments begin with the checksum of their content.
    static func hasChecksum(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first == checkedVersion && bytes.count > Checksum.length
    }

    /// A content from its stored attachments and its body.
    ///
    /// - Throws: ``DamagedAttachments``.
    package init(storedAttachments: UnsafeRawBufferPointer, body: [UInt8]) throws {
        var list = storedAttachments
        if Self.hasChecksum(list) {
            list = UnsafeRawBufferPointer(rebasing: list[(1 + Checksum.length)...])
            guard Self.checksum(of: list, body).isWritten(in: storedAttachments, at: 1) else {
                throw DamagedAttachments("its checksum is not that of what is stored", in: Array(list))
            }
        }
        self.init(
            body: DocumentBody(unchecked: body),
            attachments: list.isEmpty ? [] : try DocumentAttachment.unpack(Array(list)))
    }

    /// The attachments as they are stored: a version, the checksum of the list and the body, and the packed list, empty for none.
    package var storedAttachments: [UInt8] {
        let list = attachments.isEmpty ? [] : DocumentAttachment.packed(attachments) ?? []
        let sum = list.withUnsafeBytes { Self.checksum(of: $0, body.utf8) }
        let start = 1 + Checksum.length
        return [UInt8](unsafeUninitializedCapacity: start + list.count) { bytes, count in
            bytes[0] = Self.checkedVersion
            sum.write(to: UnsafeMutableRawBufferPointer(bytes), at: 1)
            for index in list.indices { bytes[start + index] = list[index] }
            count = start + list.count
        }
    }

    private static func checksum(of list: UnsafeRawBufferPointer, _ body: [UInt8]) -> Checksum {
        var sum = Checksum()
        sum.add(list)
        body.withUnsafeBytes { sum.add($0) }
        return sum
    }
}

extension RevisionHasher {
    /// The id that a revision has if it was made here; `nil` for a revision with an id of another kind, or an unknown parent.
    func revision(of content: RevisionContent, as node: RevisionNode, in tree: RevisionTree) -> RevisionID? {
        guard !node.isShared else { return nil }
        let parent = tree.parent(of: node.revision)
        guard parent != nil || node.revision.generation == 1 else { return nil }
        return revision(
            of: content.body, parent: parent, isDeleted: node.isDeleted,
            attachments: content.attachments.map(\.signature))
    }
}

// MARK: - RevisionContent

/// The content of a revision.
public struct RevisionContent: Sendable, Hashable {
    /// The document's members.
    public var body: DocumentBody
    /// The attachments, in the document's order.
    public var attachments: [DocumentAttachment]

    /// Creates a content.
    public init(body: DocumentBody, attachments: [DocumentAttachment] = []) {
        self.body = body
        self.attachments = attachments
    }
}

// MARK: - BodyToken

/// Where the content of a revision is kept, as a number in its node of the revision tree.
public enum BodyToken {
    /// The content is not kept.
    public static let none: UInt64 = 0
    /// The content is the winner's, and stands in the document's own record.
    public static let record: UInt64 = 1
    /// Tokens of contents that are kept apart begin here.
    public static let firstApart: UInt64 = 2
    /// The setting with the token after which new tokens start, so that no token is reused.
    static let floorSetting = "content_floor"
}
