internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// One document.
enum DocumentEndpoints {
    /// `GET /{db}/{doc}`
    static func read(_ context: any ReadContext) throws -> HTTPResponse {
        let source = try context.source()
        if let redirection = designRedirection(context) { return redirection }
        let options = try DocumentOptions(context)
        let id = DocumentID(unchecked: context.documentID)
        if id.isLocal { return try readLocal(id, options, source.database, context) }
        if case .none = options.openRevisions {
            return try readOne(id, options, source, context)
        }
        return try readOpen(id, options, source.database, context)
    }

    /// An escaped slash in a design document's id leads to the path without it, with the same query.
    private static func designRedirection(_ context: any ReadContext) -> HTTPResponse? {
        guard context.parameters["doc"]?.hasPrefix("_design/") == true else { return nil }
        let path = context.request.target.rawPath
        let name = path.replacing("_design%2F", with: "_design/").replacing("_design%2f", with: "_design/")
        guard name != path else { return nil }
        let place = context.relative(String(name.drop { $0 == "/" }))
        let query = context.query.encoded.map { "?" + $0 } ?? ""
        return HTTPResponse(status: 301, headers: ["Location": place + query])
    }

    private static func readOne(
        _ id: DocumentID, _ options: DocumentOptions, _ source: any DocumentSource, _ context: any ReadContext
    ) throws -> HTTPResponse {
        let lookup = DocumentLookup(source: source)
        let isWinner = options.revision == nil || options.isLatest
        let found =
            if let revision = options.revision, !isWinner {
                try lookup.revision(id, revision)
            } else {
                try lookup.winner(id, isDeletedWanted: options.isDeletedWanted)
            }
        if options.hasAttachments, context.request.headers.accepts("multipart/related") {
            return try MultipartAnswers.document(found, options, source.database, hasMeta: isWinner, context)
        }
        let printer = DocumentPrinter(source: source, options: options)
        let tag = EntityTag.of(found.revision.description)
        let printed = try printer.print(found.revision, found.content, of: found.record, hasMeta: isWinner)
        if printed.hasMeta { return try .json(text: printed.text, source) }
        if let unchanged = EntityTag.notModified(tag, context.request) { return unchanged }
        return try .json(text: printed.text, source, headers: ["ETag": tag])
    }

    private static func readLocal(
        _ id: DocumentID, _ options: DocumentOptions, _ database: Database, _ context: any ReadContext
    ) throws -> HTTPResponse {
        guard let document = try database.localDocument(id) else { throw HTTPError.missing }
        let tag = EntityTag.of(document.revision)
        if let unchanged = EntityTag.notModified(tag, context.request) { return unchanged }
        return .json(
            bytes: DocumentPrinter(source: database, options: options).print(document), headers: ["ETag": tag])
    }

    private static func readOpen(
        _ id: DocumentID, _ options: DocumentOptions, _ database: Database, _ context: any ReadContext
    ) throws -> HTTPResponse {
        let results = try DocumentLookup(source: database).open(
            options.openRevisions, of: id, isLatest: options.isLatest)
        if results.isEmpty { throw HTTPError.missing }
        if context.request.headers.accepts("multipart/mixed") {
            return try MultipartAnswers.documents(results, options, database)
        }
        let printer = DocumentPrinter(source: database, options: options)
        var text = WireText([UInt8(ascii: "[")])
        for (index, result) in results.enumerated() {
            if index > 0 { text += ",".utf8 }
            switch result {
            case .success(let found):
                text += "{\"ok\":".utf8
                text += try printer.print(found.revision, found.content, of: found.record, hasMeta: false).text
                text += "}".utf8
            case .failure(let missing):
                (["missing": .string(missing.revision)] as JSONValue).append(to: &text.bytes)
            }
        }
        text += "]".utf8
        return try .json(text: text, database)
    }

    /// `PUT /{db}/{doc}`
    static let put: Endpoint = .work { context in
        let database = try context.database()
        let options = try DocumentOptions(context)
        let id = try context.checkedID()
        var (document, following) = try MultipartDocumentReader.document(context, database)
        document.revision = try revision(of: document.revision, context)
        document.id = id.string
        if document.body.utf8.count > context.largestDocument {
            throw HTTPError.documentTooLarge(id.string)
        }
        for attachment in document.attachments { try WireAttachment.check(name: attachment.name) }
        if !options.isReplicated {
            if EntityTag.asksForCreation(context.request), document.revision != nil,
                try database.tree(of: id)?.isDeleted == false
            {
                throw HTTPError.exists("The document exists already.")
            }
            // Contents that come with an edit are new in it.
            let generation = (document.revision?.id?.generation ?? 0) + 1
            following = try following.described(in: generation)
        }
        let writer = try DocumentWriter(database, context)
        let location = context.location(context.parameter("db"), id.string)
        if options.isReplicated {
            guard let revision = document.revision else {
                throw HTTPError.badRequest(
                    "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
            }
            let refuses = context.query["conflicts"] == "refuse"
            if let refused = try writer.insert([(id, document, following)], refusingBranches: refuses).first {
                throw refused.error
            }
            return written(
                id, id.isLocal ? try database.localDocument(id)?.revision ?? "0-0" : revision.description,
                status: document.isDeleted ? 200 : 201, location)
        }
        if context.query["batch"] == "ok" {
            return try accept(document, id, following, writer, branches: branches(context))
        }
        return written(
            id, try writer.edit(document, id: id, following: following, branches: branches(context)),
            status: document.isDeleted ? 200 : 201, location)
    }

    /// `POST /{db}`
    static let post: Endpoint = .work { context in
        try context.requireContentType()
        let database = try context.database()
        var document = try WireDocument(context.body(), limit: context.largestDocument)
        for attachment in document.attachments { try WireAttachment.check(name: attachment.name) }
        let id = try document.complete()
        let writer = try DocumentWriter(database, context)
        if context.query["batch"] == "ok" {
            return try accept(document, id, FollowingContents(), writer, branches: branches(context))
        }
        var response = written(
            id, try writer.edit(document, id: id, branches: branches(context)), status: 201,
            context.location(context.parameter("db"), id.string))
        response.headers["ETag"] = nil
        return response
    }

    /// Whether an edit may begin a branch on a revision that was edited already; an extension of ours.
    private static func branches(_ context: RequestContext) -> Bool { context.query["conflicts"] == "branch" }

    /// Writes a document at once of which the client does not want to know whether it was refused, only that the server
    /// did what it can.
    private static func accept(
        _ document: WireDocument, _ id: DocumentID, _ following: FollowingContents, _ writer: DocumentWriter,
        branches: Bool
    ) throws -> HTTPResponse {
        do { _ = try writer.edit(document, id: id, following: following, branches: branches) } catch {
            guard HTTPError(error).status < 500 else { throw error }
        }
        return .json(["ok": true, "id": .string(id.string)], status: 202)
    }

    /// `POST /{db}/{doc}`: a form with attachments, of a page of the same server.
    static let postForm: Endpoint = .work { context in
        _ = try context.database()
        guard context.request.headers["Referer"] != nil else {
            throw HTTPError.badRequest("Referer header required.")
        }
        throw HTTPError.notImplemented("writing a document by a form is not implemented yet")
    }

    /// `DELETE /{db}/{doc}`
    static let delete: Endpoint = .work { context in
        let database = try context.database()
        let id = DocumentID(unchecked: context.documentID)
        if id.isLocal {
            guard try database.localDocument(id) != nil else { throw HTTPError.missing }
        } else {
            try DocumentLookup(source: database).checkExistence(of: id)
        }
        var document = WireDocument(
            id: nil, revision: try revision(of: nil, context), isDeleted: true, body: .empty)
        if !id.isLocal { document.body = try tombstoneBody(of: document.revision, id, database) }
        return written(id, try DocumentWriter(database, context).edit(document, id: id), status: 200, nil)
    }

    /// The members that the database keeps of a revision that is deleted; none of one that can't be read.
    private static func tombstoneBody(
        of revision: WireRevision?, _ id: DocumentID, _ database: Database
    ) throws -> DocumentBody {
        guard try !database.attributesKeptOnDelete().isEmpty else { return .empty }
        let found: DocumentLookup.Found?
        do { found = try revision.flatMap { try DocumentLookup(source: database).find($0, of: id) } } catch let error
            as DatabaseError where error.code == .damagedDocument
        { found = nil }
        return try database.tombstoneBody(of: found?.content.body)
    }

    /// `COPY /{db}/{doc}`
    static let copy: Endpoint = .work { context in
        let database = try context.database()
        let id = DocumentID(unchecked: context.documentID)
        let (target, parent) = try CopyDestination.parse(context.request.headers["Destination"])
        var document: WireDocument
        var following = FollowingContents()
        let lookup = DocumentLookup(source: database)
        if id.isLocal {
            guard let source = try database.localDocument(id) else { throw HTTPError.missing }
            document = WireDocument(id: nil, body: source.body)
        } else {
            let source = try revision(of: nil, context).map { try lookup.revision(id, $0) } ?? lookup.winner(id)
            document = WireDocument(id: nil, body: source.content.body)
            document.isDeleted = source.record.tree[source.revision]?.isDeleted ?? false
            for attachment in source.content.attachments {
                following[attachment.name] = attachment
                document.attachments.append(WireAttachment(attachment.name, content: .follows()))
            }
        }
        document.revision = parent
        let written = try DocumentWriter(database, context).edit(document, id: target, following: following)
        return Self.written(
            target, written, status: 201, context.location(context.parameter("db"), target.string))
    }

    /// `/{db}/_local`
    static let noLocalID: Endpoint = .work { _ in throw HTTPError.badRequest("Invalid _local document id.") }

    /// `/{db}/_local/{local}/{file}`
    static let noLocalAttachments: Endpoint = .work { _ in
        throw HTTPError.badRequest("_local documents do not accept attachments.")
    }

    /// The revision an edit is made on: of the body, the query, and the header, which must not contradict each other.
    static func revision(of body: WireRevision?, _ context: RequestContext) throws -> WireRevision? {
        let query = try context.query.revision()
        if let body, let query, body != query {
            throw HTTPError.badRequest("Document rev from request body and query string have different values")
        }
        let explicit = body ?? query
        guard let header = context.request.headers["If-Match"] else { return explicit }
        let tag = try WireRevision(header.trimmingQuotes())
        if let explicit, explicit != tag {
            throw HTTPError.badRequest("Document rev and etag have different values")
        }
        return tag
    }

    /// The answer to a write.
    static func written(_ id: DocumentID, _ revision: String, status: Int, _ location: String?) -> HTTPResponse {
        var response = HTTPResponse.json(
            ["ok": true, "id": .string(id.string), "rev": .string(revision)], status: status,
            headers: ["ETag": EntityTag.of(revision)])
        response.headers["Location"] = location
        return response
    }
}

extension ReadContext {
    /// The document the path names: `{doc}`, or `{design}` or `{local}` after its prefix.
    var documentID: String {
        if let name = parameters["design"] { return "_design/" + name }
        if let name = parameters["local"] { return "_local/" + name }
        return parameter("doc")
    }

    /// The document the path names, where one may be written under that name.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    func checkedID() throws -> DocumentID {
        guard request.target.isUTF8(part: partOfID) else { throw WireDocument.idIsNoText }
        return try WireDocument.checked(documentID)
    }

    /// Sees that an attachment may be written under the name that the path has for it.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    func checkAttachmentName() throws {
        guard (partOfID + 1..<request.target.segments.count).allSatisfy(request.target.isUTF8) else {
            throw HTTPError.badRequest("Attachment name is not UTF-8 encoded")
        }
        try WireAttachment.check(name: parameter("file"))
    }

    private var partOfID: Int { parameters["doc"] == nil ? 2 : 1 }
}

extension String {
    /// The text without quotes at its ends.
    fileprivate func trimmingQuotes() -> String {
        var text = Substring(self)
        while text.hasPrefix("\"") { text = text.dropFirst() }
        while text.hasSuffix("\"") { text = text.dropLast() }
        return String(text)
    }
}

// MARK: - CopyDestination

/// The destination header of COPY: `id`, or `id?rev=…`.
enum CopyDestination {
    /// - Throws: ``HTTPError`` with status 400 if it is missing, or names another server.
    static func parse(_ header: String?) throws -> (id: DocumentID, revision: WireRevision?) {
        guard let header else { throw HTTPError.badRequest("Destination header is mandatory for COPY.") }
        if header.hasPrefix("http://") || header.hasPrefix("https://") {
            throw HTTPError.badRequest("Destination URL must be relative.")
        }
        let target = RequestTarget(String(header))
        let name = header.prefix { $0 != "?" }
        guard PercentCoding.isUTF8(name) else { throw WireDocument.idIsNoText }
        let id = try WireDocument.checked(PercentCoding.decode(name, plusIsBlank: true))
        return (id, try target.query.revision())
    }
}
