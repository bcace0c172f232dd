internal import SettleCore
internal import SettleDatabase

extension PeerRevision {
    /// Reads a revision from `_bulk_get` or a `GET` of a document, with its attachments as stubs or with their data.
    ///
    /// - Throws: ``WireFault``, or `JSONError`.
    init(answer text: UnsafeBufferPointer<UInt8>) throws { try self.init(WireDocument(reading: text)) }

    /// Creates a revision from a document of a response.
    ///
    /// - Throws: ``WireFault``.
    init(_ document: WireDocument) throws {
        guard let id = document.id, let revision = document.revision?.id else {
            throw WireFault("a document came without _id or _rev")
        }
        self.init(
            id: DocumentID(unchecked: id), history: document.history ?? RevisionHistory(revision),
            isDeleted: document.isDeleted, body: document.body,
            attachments: try document.attachments.map { try PeerAttachment($0) })
    }
}

extension WireDocument {
    /// Reads a document of a response.
    ///
    /// - Throws: ``WireFault``, or `JSONError`.
    init(reading text: UnsafeBufferPointer<UInt8>) throws {
        do { try self.init(answer: text) } catch let fault as Fault { throw WireFault(fault) }
    }
}

extension WireFault {
    init(_ fault: WireDocument.Fault) {
        switch fault {
        case .otherHistory(let revision, let other):
            self.init("a document came as \(revision) with the history of \(other)")
        case .attachmentData(let name): self.init("the data of the attachment \"\(name)\" is not base64")
        default: self.init("a document came with an invalid _revisions")
        }
    }
}

extension PeerAttachment {
    /// Creates an attachment from a member of `_attachments`, with or without its content. If the content did not
    /// arrive and the target lacks it, the attachment stays a stub until ``CouchDBPeer`` decides how to fetch the
    /// content.
    ///
    /// - Throws: ``WireFault``.
    init(_ wire: WireAttachment) throws {
        guard let digest = wire.digest.flatMap({ AttachmentDigest($0) }) else {
            throw WireFault("the attachment \"\(wire.name)\" has no md5 digest")
        }
        var (length, content) = (wire.length ?? -1, Content.stub)
        if case .inline(let bytes) = wire.content { (length, content) = (Int64(bytes.count), .bytes(bytes)) }
        guard length >= 0 else { throw WireFault("the attachment \"\(wire.name)\" has no length") }
        guard let encoding = DocumentAttachment.Encoding(rawValue: wire.encoding ?? "identity") else {
            throw WireFault(
                "the attachment \"\(wire.name)\" has the encoding \(wire.encoding ?? ""), which is not known")
        }
        let encodedLength = encoding == .identity ? length : wire.encodedLength ?? -1
        guard encodedLength >= 0 else { throw WireFault("the attachment \"\(wire.name)\" has no encoded_length") }
        self.init(
            name: wire.name, contentType: wire.contentType, revpos: wire.revpos ?? 0, digest: digest, length: length,
            encodedLength: encodedLength, encoding: encoding, content: content)
    }
}

// MARK: - Sending

extension PeerRevision {
    /// The place of attachment contents in a request.
    enum Contents {
        /// Inlined in the JSON; other attachments are stubs.
        case inline
        /// In the parts after the JSON, in the same order.
        case follow
    }

    /// The form in which the revision is sent.
    func wire(_ contents: Contents) -> WireDocument {
        WireDocument(
            id: id.string, revision: .revision(revision), history: history, isDeleted: isDeleted, body: body,
            attachments: attachments.map { $0.wire(contents) })
    }

    /// An upper bound of the size of the JSON in bytes, including attachments.
    var estimatedBytes: Int {
        let attachments = attachments.reduce(0) { sum, attachment in
            let content = if case .bytes(let bytes) = attachment.content { bytes.count / 3 * 4 + 4 } else { 0 }
            return sum + content + 256 + (attachment.name.utf8.count + attachment.contentType.utf8.count) * 6
        }
        return body.utf8.count + 36 * history.signatures.count + 160 + id.string.utf8.count * 6 + attachments
    }
}

extension PeerAttachment {
    fileprivate func wire(_ contents: PeerRevision.Contents) -> WireAttachment {
        var wire = WireAttachment(
            name, contentType: contentType, revpos: revpos, digest: digest.description, length: length, content: .stub)
        switch (content, contents) {
        case (.stub, _): break
        case (.bytes(let bytes), .inline): (wire.content, wire.length) = (.inline(bytes), nil)
        case (.bytes, .follow), (.source, _):
            wire.content = .follows()
            if encoding != .identity { (wire.encoding, wire.encodedLength) = (encoding.rawValue, encodedLength) }
        }
        return wire
    }
}
