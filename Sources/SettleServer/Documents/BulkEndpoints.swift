internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP

/// Many documents at once.
enum BulkEndpoints {
    /// `POST /{db}/_bulk_docs`
    static let bulkDocuments: Endpoint = .work { context in
        try context.requireContentType()
        let database = try context.database()
        let batch = try Batch(context)
        let documents = batch.documents
        if batch.isAtomic { return .json(.array(documents.map { notAtomic($0.document, $0.id) }), status: 417) }
        let writer = try DocumentWriter(database, context)
        if batch.isReplicated {
            let found = try writer.insert(documents, refusingBranches: batch.refusesBranches)
            // As CouchDB, if nothing of the batch is stored; otherwise only the documents in question are refused.
            if let first = found.first?.error, found.count == documents.count,
                found.allSatisfy({ $0.error.status == 412 })
            {
                throw first
            }
            let refused = found.map { id, revision, error -> JSONValue in
                [
                    "id": .string(id.string), "rev": .string(revision), "error": .string(error.error),
                    "reason": .string(error.reason),
                ]
            }
            return .json(.array(refused), status: 201)
        }
        return .json(bytes: text(of: try writer.edit(documents), documents), status: 201)
    }

    /// The outcomes of edits, printed without a value for each.
    private static func text(of outcomes: [DocumentWriter.Outcome], _ documents: [DocumentWriter.Given]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(documents.count * 96)
        for (document, outcome) in zip(documents, outcomes) {
            text.append(text.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            let id = JSONValue.string(document.id.string)
            switch outcome {
            case .success(let revision):
                text += "{\"ok\":true,\"id\":".utf8
                id.append(to: &text)
                text += ",\"rev\":\"\(revision)\"}".utf8
            case .failure(let error):
                (["id": id, "error": .string(error.error), "reason": .string(error.reason)] as JSONValue)
                    .append(to: &text)
            }
        }
        return (text.isEmpty ? [UInt8(ascii: "[")] : text) + [UInt8(ascii: "]")]
    }

    /// The documents of a request. They are parsed one by one, so no value is built for the whole body. The text is freed before they
    /// are written.
    private struct Batch {
        let documents: [DocumentWriter.Given]
        let isReplicated: Bool
        /// Whether either all documents or none are written.
        let isAtomic: Bool
        /// The value of a member that only Settle has, and CouchDB ignores: for hubs that want no branches.
        let refusesBranches: Bool

        init(_ context: RequestContext) throws {
            let bytes = try context.body()
            let limit = context.live.bulkDocuments
            let outline = try context.outline(
                of: bytes, elementsOf: "docs", atMost: limit, or: .batchTooLong("bulk_docs", limit))
            guard outline["docs"] != nil else {
                throw HTTPError.badRequest("POST body must include `docs` parameter.")
            }
            guard let places = outline.elements else {
                throw HTTPError.badRequest("`docs` parameter must be an array.")
            }
            func member(_ name: String) throws -> JSONValue? {
                try outline[name].map { try RequestLimits.value(Array(bytes[$0])) }
            }
            let newEdits = try member("new_edits")
            let isReplicated = newEdits == false
            documents = try places.map { place in
                var document = try WireDocument(Array(bytes[place]), limit: context.largestDocument)
                if isReplicated, document.revision == nil {
                    throw HTTPError.badRequest(
                        "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
                }
                for attachment in document.attachments { try WireAttachment.check(name: attachment.name) }
                return (id: try document.complete(), document: document, following: FollowingContents())
            }
            guard newEdits.map({ $0.bool != nil }) ?? true else {
                throw HTTPError.badRequest("`new_edits` parameter must be a boolean.")
            }
            self.isReplicated = isReplicated
            isAtomic = try !isReplicated && member("all_or_nothing") == true
            refusesBranches = try isReplicated && member("conflicts") == "refuse"
        }
    }

    /// What is said of a document of a batch that is to be written as a whole or not at all, as CouchDB says it.
    private static func notAtomic(_ document: WireDocument, _ id: DocumentID) -> JSONValue {
        [
            "id": .string(id.string), "rev": .string(document.revision?.description ?? "0-"),
            "error": "not_implemented", "reason": "all_or_nothing is not supported",
        ]
    }

    /// `POST /{db}/_bulk_get`
    static let bulkGet: Endpoint = .work { context in
        try context.requireContentType()
        let database = try context.database()
        guard let docs = try context.jsonObject()["docs"] else {
            throw HTTPError.badRequest("Missing JSON list of 'docs'.")
        }
        for name in ["rev", "open_revs", "atts_since", "w", "new_edits"] where context.query[name] != nil {
            throw HTTPError.badRequest("\"\(name)\" query parameter is not acceptable")
        }
        guard let list = docs.array else { throw HTTPError.badRequest("Missing JSON list of 'docs'.") }
        let limit = context.live.bulkGets
        guard list.count <= limit else { throw HTTPError.batchTooLong("bulk_get", limit) }
        let options = try DocumentOptions(context)
        let asked = list.map { BulkGetRow($0) }
        let accepts = { context.request.headers.accepts($0) }
        let isMixed = accepts("multipart/mixed")
        guard !accepts("application/json"), isMixed || accepts("multipart/related") else {
            return .json(stream: BulkGetStream(database: database, rows: asked, options: options))
        }
        let stream = BulkGetParts(database: database, rows: asked, options: options)
        let type = "multipart/\(isMixed ? "mixed" : "related"); boundary=\"\(stream.boundary)\""
        return HTTPResponse(
            status: 200, headers: ["Content-Type": type, "Cache-Control": "must-revalidate"],
            body: .stream(stream, length: nil))
    }
}
