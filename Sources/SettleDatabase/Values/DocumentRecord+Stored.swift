package import SettleCore

/// Reading documents as engines store them, as far as they can be read.
extension DocumentRecord {
    /// A document with its packed tree, without a content.
    package init(id: DocumentID, sequence: UpdateSequence, packedTree bytes: UnsafeRawBufferPointer) {
        self.init(id: id, sequence: sequence, tree: RevisionTree(), content: nil)
        do {
            tree = try RevisionTree(packed: bytes)
            guard tree.isEmpty else { return }
            damage = .damaged(
                id, "its revision tree", cause: DatabaseError(.corrupt, "it has no revision"))
        } catch { damage = .damaged(id, "its revision tree", cause: error) }
    }

    /// A document whose id is damaged. It has no revisions, so that nobody takes it for a document.
    package init(damagedID text: String, _ sequence: UpdateSequence) {
        self.init(
            id: DocumentID(unchecked: text.isEmpty ? "?" : text), sequence: sequence, tree: RevisionTree(), content: nil
        )
        damage = DatabaseError(
            .damagedDocument, "the document at position \(sequence) of the changes is damaged: its id is not UTF-8")
    }

    /// Adds the winner's content from its packed attachments and its body.
    package mutating func readContent(attachments: [UInt8]?, body: [UInt8]) {
        do { content = try RevisionContent(packedAttachments: attachments, body: body) } catch {
            if damage == nil { damage = .damaged(id, "its content", cause: error) }
        }
    }
}

extension RevisionContent {
    /// A content from its packed attachments and its body.
    ///
    /// - Throws: ``DamagedAttachments``.
    package init(packedAttachments: [UInt8]?, body: [UInt8]) throws {
        self.init(
            body: DocumentBody(unchecked: body),
            attachments: try packedAttachments.map { try DocumentAttachment.unpack($0) } ?? [])
    }

    /// The attachments as they are stored; `nil` for none.
    package var packedAttachments: [UInt8]? { DocumentAttachment.packed(attachments) }
}
