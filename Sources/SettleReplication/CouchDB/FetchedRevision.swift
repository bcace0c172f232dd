internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A revision from `_bulk_get` or a `GET` of a document, with its attachments as stubs or with their data.
struct FetchedRevision {
    let id: String
    let history: RevisionHistory
    let isDeleted: Bool
    let body: DocumentBody
    let attachments: [WireStub]

    /// Reads a document. It validates every byte in one pass and builds no values of the body.
    ///
    /// - Throws: ``WireFault``, or `JSONError`.
    init(_ text: UnsafeBufferPointer<UInt8>) throws {
        let reader = try DocumentReader.read(text, allowsReserved: true)
        var id: String?
        var revision: RevisionID?
        var history: RevisionHistory?
        var isDeleted = false
        var attachments: [WireStub] = []
        for member in reader.reserved {
            switch member.name {
            case "_id": id = Self.string(member.value)
            case "_rev": revision = Self.string(member.value).flatMap { RevisionID($0) }
            case "_deleted": isDeleted = member.value.elementsEqual("true".utf8)
            case "_revisions": history = try Self.history(member.value)
            case "_attachments":
                attachments = try (JSONValue(utf8: member.value).object ?? JSONObject()).map {
                    try WireStub($0.name, $0.value)
                }
            default: break
            }
        }
        guard let id, let revision else { throw WireFault("a document came without _id or _rev") }
        if let history, history.revision != revision {
            throw WireFault("the document \"\(id)\" came as \(revision) with the history of \(history.revision)")
        }
        self.id = id
        self.history = history ?? RevisionHistory(revision)
        self.isDeleted = isDeleted
        self.attachments = attachments
        body = reader.body
    }

    private static func string(_ value: [UInt8]) -> String? {
        value.withUnsafeBufferPointer { $0.string(in: 0..<$0.count) }
    }

    private static func history(_ value: [UInt8]) throws -> RevisionHistory? {
        do { return try RevisionHistory.read(JSONValue(utf8: value).object ?? JSONObject()) } catch is RevisionHistory
            .WireFault
        {
            throw WireFault("a document came with a _revisions that is none")
        }
    }
}

// MARK: - WireStub

/// An attachment as a peer's document lists it, with or without its content.
struct WireStub {
    let name: String
    let contentType: String
    let revpos: UInt64
    let digest: AttachmentDigest
    /// The length of the content; with `data`, that of the data.
    let length: Int64
    let encodedLength: Int64
    let encoding: DocumentAttachment.Encoding
    /// The decoded content, if it was requested.
    let data: [UInt8]?

    /// Reads one member of `_attachments`.
    ///
    /// - Throws: ``WireFault``.
    init(_ name: String, _ value: JSONValue) throws {
        guard let text = value["digest"]?.string, let digest = AttachmentDigest(text) else {
            throw WireFault("the attachment \"\(name)\" has no md5 digest")
        }
        data = try value["data"].map { data in
            guard let text = data.string, let bytes = Base64.decode(text.utf8) else {
                throw WireFault("the data of the attachment \"\(name)\" is no base64")
            }
            return bytes
        }
        guard let length = data.map({ Int64($0.count) }) ?? value["length"]?.int.map(Int64.init), length >= 0 else {
            throw WireFault("the attachment \"\(name)\" has no length")
        }
        switch value["encoding"]?.string ?? "identity" {
        case "identity": (encoding, encodedLength) = (.identity, length)
        case "gzip":
            guard let stored = value["encoded_length"]?.int, stored >= 0 else {
                throw WireFault("the attachment \"\(name)\" has no encoded_length")
            }
            (encoding, encodedLength) = (.gzip, Int64(stored))
        case let other: throw WireFault("the attachment \"\(name)\" has the encoding \(other), which is not known")
        }
        self.name = name
        self.digest = digest
        self.length = length
        contentType = value["content_type"]?.string ?? "application/octet-stream"
        revpos = value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? 0
    }
}
