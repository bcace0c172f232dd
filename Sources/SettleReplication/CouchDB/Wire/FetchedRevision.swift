internal import SettleCore
internal import SettleDatabase

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
