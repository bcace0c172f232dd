internal import SettleCore

extension DocumentAttachment {
    /// A list of attachments as stored beside a body: JSON, one array for each.
    ///
    ///     [["photo.jpg","image/jpeg",3,"md5-…",length,encoded length,"identity","sha-256 in hex"], …]
    static func packed(_ attachments: [DocumentAttachment]) -> [UInt8]? {
        guard !attachments.isEmpty else { return nil }
        return JSONValue.array(
            attachments.map { attachment in
                [
                    .string(attachment.name), .string(attachment.contentType),
                    .number(JSONNumber(attachment.revpos)), .string(attachment.digest.description),
                    .number(JSONNumber(attachment.length)), .number(JSONNumber(attachment.encodedLength)),
                    .string(attachment.encoding.rawValue), .string(attachment.blob.description),
                ]
            }
        ).utf8
    }

    /// Reads a packed list.
    ///
    /// - Throws: ``DamagedAttachments`` if the bytes are not packed attachments.
    static func unpack(_ bytes: [UInt8]) throws -> [DocumentAttachment] {
        guard let rows = (try? JSONValue(utf8: bytes))?.array else {
            throw DamagedAttachments("the list of attachments is no JSON", in: bytes)
        }
        return try rows.enumerated().map { index, row in
            guard let attachment = DocumentAttachment(packed: row) else {
                let name = row[0]?.string.map { "\"\($0)\"" } ?? "number \(index + 1)"
                throw DamagedAttachments("the attachment \(name) is stored as \(row)", in: bytes)
            }
            return attachment
        }
    }

    private init?(packed row: JSONValue) {
        guard let name = row[0]?.string, let contentType = row[1]?.string,
            let revpos = row[2]?.int.flatMap({ UInt64(exactly: $0) }),
            let digest = row[3]?.string.flatMap({ AttachmentDigest($0) }),
            let length = row[4]?.int, let encodedLength = row[5]?.int, length >= 0, encodedLength >= 0,
            let encoding = row[6]?.string.flatMap({ Encoding(rawValue: $0) }),
            let blob = row[7]?.string.flatMap({ BlobDigest(hexadecimal: $0) })
        else { return nil }
        self.init(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: Int64(length),
            encodedLength: Int64(encodedLength), encoding: encoding, blob: blob)
    }

    /// Checks that ``unpack(_:)`` will accept the numbers; every attachment is checked here before it is stored.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    func checkNumbers(of id: DocumentID) throws {
        for (what, number) in [("length", length), ("encoded length", encodedLength)] where number < 0 {
            throw DatabaseError(
                .invalid, "the attachment \"\(name)\" of \"\(id)\" has the \(what) \(number), below zero")
        }
        guard revpos <= RevisionID.maximumGeneration else {
            throw DatabaseError(
                .invalid, "the attachment \"\(name)\" of \"\(id)\" has the revpos \(revpos), which no revision can have"
            )
        }
    }
}
