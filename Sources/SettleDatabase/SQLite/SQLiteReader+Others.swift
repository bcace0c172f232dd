internal import SettleCore

extension SQLiteReader {
    func localDocument(_ id: DocumentID) throws -> LocalDocument? {
        let statement = try connection.statement(.local)
        statement.bind(1, utf8: id.string)
        return try statement.first(localDocument)
    }

    func localDocuments(after id: DocumentID?, limit: Int) throws -> [LocalDocument] {
        let statement = try connection.statement(.locals)
        statement.bind(1, utf8: id?.string ?? "")
        statement.bind(2, Int64(limit))
        return try statement.all(by: \.id, beyond: id, localDocument)
    }

    private func localDocument(_ row: SQLiteStatement) throws -> LocalDocument {
        LocalDocument(
            id: try row.id(0), revisionNumber: row.integer(1),
            body: DocumentBody(unchecked: row.bytes(2)))
    }

    func blob(_ digest: BlobDigest) throws -> BlobRecord? {
        let statement = try connection.statement(.blob)
        statement.bind(1, digest.bytes)
        return try statement.first { row in
            let isFile = row.isNull(3)
            let (length, content) = (row.integer(2), isFile ? nil : row.bytes(3))
            guard length >= 0, Int64(content?.count ?? Int(length)) == length else {
                throw DatabaseError(.corrupt, "the length of the attachment content \(digest) is not \(length)")
            }
            return BlobRecord(digest: digest, md5: row.bytes(1), length: length, content: content, isFile: isFile)
        }
    }

    func blobs(after digest: BlobDigest?, limit: Int) throws -> [BlobRecord] {
        let statement = try connection.statement(.blobs)
        statement.bind(1, digest?.bytes ?? [])
        statement.bind(2, Int64(limit))
        return try statement.all(by: \.digest, beyond: digest) { row in
            guard let digest = BlobDigest(row.bytes(0)) else {
                throw DatabaseError(.corrupt, "a blob's digest has not 32 bytes")
            }
            return BlobRecord(
                digest: digest, md5: row.bytes(1), length: row.integer(2), content: nil, isFile: row.integer(3) != 0)
        }
    }

    func expiration(of id: DocumentID) throws -> Int64? {
        let statement = try connection.statement(.expiration)
        statement.bind(1, utf8: id.string)
        return try statement.first { $0.integer(0) }
    }

    func expired(by milliseconds: Int64, limit: Int) throws -> [DocumentID] {
        let statement = try connection.statement(.expired)
        statement.bind(1, milliseconds)
        statement.bind(2, Int64(limit))
        return try statement.all { try $0.id(0) }
    }

    func nextExpiration() throws -> Int64? {
        try connection.statement(.nextExpiration).first { $0.isNull(0) ? nil : $0.integer(0) }
    }

    func payload() throws -> StoragePayload {
        func sum(_ values: String) throws -> Int64 {
            try connection.integer("SELECT ifnull((SELECT sum\(values)), 0)") ?? 0
        }
        // SQLite knows how long a value is without reading it.
        return StoragePayload(
            winners: try sum("(length(body)) FROM documents"),
            apart: try sum("(length(body) + ifnull(length(attachments), 0)) FROM contents"),
            attachments: try sum("(length) FROM blobs"),
            attachmentFiles: try sum("(length) FROM blobs WHERE content IS NULL"))
    }
}
