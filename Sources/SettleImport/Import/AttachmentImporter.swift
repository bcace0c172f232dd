package import SettleCore
package import SettleDatabase
internal import SettlePlatform

/// Takes the attachments of an input: their contents inline, in pieces before the document, or known here already.
///
/// A large content comes in lines of its own, in order, before the document that names it by `follows`:
///
///     {"$blob":"sha-256 in hex","offset":0,"data":"base64"}
///
/// One content at a time is open. Finished ones are kept until a document without any comes.
package final class AttachmentImporter {
    /// Where the contents go.
    package let database: Database
    private let known: (DocumentID) throws -> [DocumentAttachment]
    private var open: (name: String, length: Int64, writer: AttachmentWriter)?
    private var finished: [String: DocumentAttachment] = [:]
    /// The number of contents whose digests could not be compared: the source has compressed them, and other bytes than here.
    package private(set) var uncheckedCount = 0

    /// Creates an importer.
    ///
    /// - Parameters:
    ///   - database: Where contents go.
    ///   - known: The attachments that a document has already; those of the database unless given.
    package init(_ database: Database, known: ((DocumentID) throws -> [DocumentAttachment])? = nil) {
        self.database = database
        self.known = known ?? { try database.leaves(of: $0).flatMap(\.attachments) }
    }

    /// Takes a piece of a content; returns whether it was one.
    func add(piece body: DocumentBody) throws -> Bool {
        guard body.utf8.starts(with: "{\"$blob\"".utf8), let name = body["$blob"]?.string,
            let offset = body["offset"]?.int, let data = body["data"]?.string
        else { return false }
        guard let bytes = Base64.decode(data.utf8) else { throw DatabaseError(.invalid, "the data is not base64") }
        if open?.name != name || offset == 0 {
            try finish()
            open = (name, 0, try database.attachmentWriter(contentType: "", encoding: .identity))
        }
        guard let current = open, current.length == Int64(offset) else {
            open = nil
            throw DatabaseError(.invalid, "a piece of the content \(name) is missing before offset \(offset)")
        }
        try current.writer.write(bytes)
        open?.length += Int64(bytes.count)
        return true
    }

    private func finish() throws {
        guard let current = open else { return }
        open = nil
        let attachment = try current.writer.finish(name: "content")
        guard attachment.blob.description == current.name else {
            throw DatabaseError(.invalid, "the pieces of the content \(current.name) are not what their name says")
        }
        finished[current.name] = attachment
    }

    /// The attachments of a document, in order.
    ///
    /// - Throws: ``DatabaseError`` with code `attachmentMissing` if a content is neither in the input nor in the document.
    package func attachments(_ members: [WireAttachment], of id: DocumentID) throws -> [DocumentAttachment] {
        defer { finished = [:] }
        try finish()
        return try members.map { try attachment($0, of: id) }
    }

    /// The attachments of a document whose contents are there, in order, and the names of the others.
    func attachmentsAtHand(
        _ members: [WireAttachment], of id: DocumentID
    ) throws -> (found: [DocumentAttachment], missing: [String]) {
        defer { finished = [:] }
        try finish()
        var (found, missing) = ([DocumentAttachment](), [String]())
        for member in members {
            do { found.append(try attachment(member, of: id)) } catch let error as DatabaseError
                where error.code == .attachmentMissing
            { missing.append(member.name) }
        }
        return (found, missing)
    }

    private func attachment(_ wire: WireAttachment, of id: DocumentID) throws -> DocumentAttachment {
        let (name, type, revpos, digest) = (wire.name, wire.contentType, wire.revpos ?? 0, wire.digest)
        let encoding: DocumentAttachment.Encoding? = wire.encoding == "gzip" ? .gzip : nil
        switch wire.content {
        case .follows(let follows?):
            guard let stored = finished[follows] else {
                throw DatabaseError(
                    .invalid, "the content \(follows) of \"\(name)\" does not stand before the document")
            }
            return try described(stored, name, type, revpos, encoding ?? .identity, digest)
        case .inline(let bytes):
            let plain = try stored(bytes, type, .identity)
            if encoding != nil || digest == plain.digest.description {
                return try described(plain, name, type, revpos, encoding ?? .identity, digest)
            }
            // Without the digest of these bytes it is plain content, which is compressed if its type is compressible.
            let made = try stored(bytes, type, nil)
            guard made.encoding == .gzip else {
                return try described(made, name, type, revpos, made.encoding, digest)
            }
            // The digest is that of the source's compressed bytes, which depend on its compressor.
            if let digest, digest != made.digest.description { uncheckedCount += 1 }
            return try described(made, name, type, revpos, .gzip, nil)
        case .stub, .follows(nil):
            guard let known = try known(id).first(where: { $0.digest.description == digest }) else {
                throw DatabaseError(
                    .attachmentMissing, "the content of \"\(name)\" is neither in the input nor in this document")
            }
            return try described(known, name, type, revpos, known.encoding, digest)
        }
    }

    private func stored(
        _ bytes: [UInt8], _ type: String, _ encoding: DocumentAttachment.Encoding?
    ) throws -> DocumentAttachment {
        let writer = try database.attachmentWriter(contentType: type, encoding: encoding)
        try writer.write(bytes)
        return try writer.finish(name: "content")
    }

    /// Names stored bytes, after a look whether they are what is said of them.
    private func described(
        _ stored: DocumentAttachment, _ name: String, _ type: String, _ revpos: UInt64,
        _ encoding: DocumentAttachment.Encoding,
        _ digest: String?
    ) throws -> DocumentAttachment {
        if let digest, digest != stored.digest.description {
            throw DatabaseError(.invalid, "the content of \"\(name)\" has another digest than \(digest)")
        }
        let isExpanded = encoding == .gzip && stored.encoding == .identity
        let content = isExpanded ? try database.expanded(stored) : stored
        return try content.described(as: name, contentType: type, revpos: revpos)
    }
}
