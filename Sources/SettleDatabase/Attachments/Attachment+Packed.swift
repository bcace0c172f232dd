internal import RevisionTree

extension Attachment {
    /// A list of attachments as it is stored beside a body: JSON, one array for each.
    ///
    ///     [["photo.jpg","image/jpeg",3,"md5-…",length,encoded length,"identity","sha-256 in hex"], …]
    static func packed(_ attachments: [Attachment]) -> [UInt8]? {
        guard !attachments.isEmpty else { return nil }
        return JSON.array(
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

    /// Reads a packed list back; `nil` when it is none.
    static func unpack(_ bytes: [UInt8]) -> [Attachment]? {
        guard let rows = (try? JSON(utf8: bytes))?.array else { return nil }
        let attachments = rows.compactMap { row -> Attachment? in
            guard let name = row[0]?.string, let contentType = row[1]?.string,
                let revpos = row[2]?.int.flatMap({ UInt64(exactly: $0) }),
                let digest = row[3]?.string.flatMap({ AttachmentDigest($0) }),
                let length = row[4]?.int, let encodedLength = row[5]?.int, length >= 0, encodedLength >= 0,
                let encoding = row[6]?.string.flatMap({ Encoding(rawValue: $0) }),
                let blob = row[7]?.string.flatMap({ BlobDigest(hexadecimal: $0) })
            else { return nil }
            return Attachment(
                name: name, contentType: contentType, revpos: revpos, digest: digest, length: Int64(length),
                encodedLength: Int64(encodedLength), encoding: encoding, blob: blob)
        }
        return attachments.count == rows.count ? attachments : nil
    }
}
