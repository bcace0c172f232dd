internal import SettleCrypto
internal import SettlePlatform

/// Computes revision ids as CouchDB does (DESIGN.md law 2).
///
/// A revision id's signature is the MD5 of an edit written in Erlang's external term format (SEMANTICS 198):
///
///     [Deleted, OldStart, OldRev, Body, Attachments]
///
///     Deleted      the atom true or false
///     OldStart     the parent's generation, 0 for a first revision
///     OldRev       the parent's signature, 16 bytes or text; the integer 0 for a first revision
///     Body         {[{Name, Value}, …]}, members in order; the document's id is not part of it
///     Attachments  [{Name, Type, MD5}, …], the last one first
///
/// So an edit that is made twice, on two devices that never met, is one revision.
///
/// ```swift
/// let body = try DocumentBody(parsing: #"{"v":1}"#)
/// RevisionHasher().revision(of: body)        // 1-7a7e4b29f3af401e69b6f86e4c26b727
/// ```
public struct RevisionHasher: Sendable {
    /// Creates a hasher.
    public init() {}

    /// The id of an edit.
    ///
    /// - Parameters:
    ///   - body: The document's members.
    ///   - parent: The revision that was edited; `nil` for a first one.
    ///   - isDeleted: Whether the edit deletes the document.
    ///   - attachments: Names, types and digests, in the document's order.
    /// - Returns: The id, one generation above the parent. A parent of the highest generation has no valid child: a
    ///   ``RevisionTree`` refuses the id.
    /// - Complexity: O(*n*) in bytes.
    public func revision(
        of body: DocumentBody, parent: RevisionID? = nil, isDeleted: Bool = false,
        attachments: [AttachmentSignature] = []
    ) -> RevisionID {
        let words = body.term.withUnsafeBytes { term in
            lendHeader(isDeleted, parent) { header in
                lendList(attachments) { MD5.words(of: header, term, $0) }
            }
        }
        return RevisionID(
            unchecked: (parent?.generation ?? 0) + 1, RevisionSignature(high: words.high, low: words.low))
    }

    private func lendHeader<Result>(
        _ isDeleted: Bool, _ parent: RevisionID?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let signature = parent?.signature.rawBytes
        var header = ByteWriter(capacity: 48 + (signature?.count ?? 0))
        defer { header.deallocate() }
        header.append(ExternalTerm.version)
        header.append(ExternalTerm.list)
        header.append(bigEndian: UInt32(5))
        if isDeleted { header.appendAtom("true") } else { header.appendAtom("false") }
        header.appendTerm(Int64(clamping: parent?.generation ?? 0))
        if let signature { header.appendBinary(signature) } else { header.appendTerm(0) }
        return body(UnsafeRawBufferPointer(header.written(from: 0)))
    }

    /// Lends the list of attachments, and the end of the edit's list.
    private func lendList<Result>(
        _ attachments: [AttachmentSignature], _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        if attachments.isEmpty {
            return withUnsafeBytes(of: (ExternalTerm.emptyList, ExternalTerm.emptyList), body)
        }
        let size = attachments.reduce(16) { $0 + $1.name.utf8.count + $1.contentType.utf8.count + $1.md5.count + 64 }
        var list = ByteWriter(capacity: size)
        defer { list.deallocate() }
        list.append(ExternalTerm.list)
        list.append(bigEndian: UInt32(truncatingIfNeeded: attachments.count))
        for attachment in attachments.reversed() {
            list.append(ExternalTerm.smallTuple)
            list.append(3)
            list.appendBinary(Array(attachment.name.utf8))
            list.appendBinary(Array(attachment.contentType.utf8))
            list.appendBinary(attachment.md5)
        }
        list.append(ExternalTerm.emptyList)
        list.append(ExternalTerm.emptyList)
        return body(UnsafeRawBufferPointer(list.written(from: 0)))
    }
}

// MARK: - AttachmentSignature

/// The properties of an attachment that are part of a revision id.
public struct AttachmentSignature: Hashable, Sendable {
    /// The attachment's name.
    public let name: String
    /// Its media type, spelled as given.
    public let contentType: String
    /// The 16 bytes of the MD5 of its content, or of the gzip bytes if it is compressed.
    public let md5: [UInt8]

    /// Makes a signature.
    public init(name: String, contentType: String, md5: [UInt8]) {
        self.name = name
        self.contentType = contentType
        self.md5 = md5
    }
}
