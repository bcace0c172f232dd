internal import SettleCore
internal import SettleDatabase

/// The kinds of side records in one table, which has a number and a value for each key.
///
///     kind         key              number                value
///     local        _local/…         N of its revision     its body
///     setting      its name         0                     its text
///     expiration   the document     the time              none
enum RecordKind: Int16 {
    case local = 1
    case setting = 2
    case expiration = 3
}

extension SideRecord.Key {
    /// The kind and key of the row; `nil` for records in other tables.
    var place: (kind: RecordKind, key: [UInt8])? {
        switch self {
        case .local(let id): (.local, Array(id.string.utf8))
        case .setting(let name): (.setting, Array(name.utf8))
        case .expiration(let id): (.expiration, Array(id.string.utf8))
        case .blob, .journal, .content: nil
        }
    }
}

/// A row of side records.
struct RecordRow: Hashable, Sendable {
    let kind: Int16
    let key: [UInt8]
    let number: Int64
    let value: [UInt8]?

    init(kind: RecordKind, key: [UInt8], number: Int64, value: [UInt8]?) {
        (self.kind, self.key, self.number, self.value) = (kind.rawValue, key, number, value)
    }

    /// The row of a side record; `nil` for records in other tables.
    init?(_ record: SideRecord) {
        switch record {
        case .local(let document):
            self.init(
                kind: .local, key: Array(document.id.string.utf8), number: document.revisionNumber,
                value: document.body.utf8)
        case .setting(let name, let value):
            self.init(kind: .setting, key: Array(name.utf8), number: 0, value: Array(value.utf8))
        case .expiration(let id, let time):
            self.init(kind: .expiration, key: Array(id.string.utf8), number: time, value: nil)
        case .blob, .journal, .content: return nil
        }
    }
}

extension PostgresResult {
    /// The side records of a result with key, number and value.
    func records(_ kind: RecordKind) throws -> [SideRecord] {
        try map { row in
            let key = bytes(row, 0)
            guard let name = String(validating: key, as: UTF8.self) else {
                throw DatabaseError(.corrupt, "the name of a side record is not UTF-8")
            }
            switch kind {
            case .local:
                return .local(
                    LocalDocument(
                        id: DocumentID(unchecked: name), revisionNumber: integer(row, 1),
                        body: DocumentBody(unchecked: bytes(row, 2))))
            case .setting: return .setting(name: name, value: text(row, 2))
            case .expiration: return .expiration(of: DocumentID(unchecked: name), at: integer(row, 1))
            }
        }
    }

    /// The contents of attachments in a result with digest, MD5, length and upload, and optionally the bytes.
    func blobs() throws -> [BlobRecord] {
        try map { row in
            guard let digest = BlobDigest(bytes(row, 0)) else {
                throw DatabaseError(.corrupt, "a blob's digest has not 32 bytes")
            }
            let place = optionalBytes(row, 3)
            return BlobRecord(
                digest: digest, md5: bytes(row, 1), length: integer(row, 2),
                content: columns > 4 ? optionalBytes(row, 4) : nil, isFile: place != nil, place: place)
        }
    }
}
