internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// One attachment of a document.
enum AttachmentEndpoints {
    /// `GET /{db}/{doc}/{file}`
    static let read: Endpoint = .work { context in
        let database = try context.database()
        let options = try DocumentOptions(context)
        let lookup = DocumentLookup(source: database)
        let id = DocumentID(unchecked: context.documentID)
        let found =
            try options.revision.map { try lookup.revision(id, $0) }
            ?? lookup.winner(id, isDeletedWanted: options.isDeletedWanted)
        let attachment = try existing(context.parameter("file"), in: found.content.attachments)
        let isEncoded = attachment.encoding == .gzip && context.request.acceptsGzip
        var headers: HTTPHeaders = [
            "ETag": EntityTag.of(Base64.encode(attachment.digest.md5)), "Cache-Control": "must-revalidate",
            "Content-Type": attachment.contentType,
            "Accept-Ranges": attachment.encoding == .identity ? "bytes" : "none",
            "Content-Security-Policy": "sandbox",
        ]
        if isEncoded { headers["Content-Encoding"] = "gzip" }
        if let unchanged = EntityTag.notModified(headers["ETag"] ?? "", context.request) { return unchanged }
        if attachment.encoding == .identity,
            let ranges = try ByteRanges.parse(context.request.headers["Range"], length: attachment.length)
        {
            if ranges.count == 1, let range = ranges.first {
                headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(attachment.length)"
                return send(
                    [.content(attachment, encoded: true, range: range)], database, headers, status: 206)
            }
            if ranges.count < 10 { return MultipartAnswers.ranges(ranges, of: attachment, database) }
        }
        return send([.content(attachment, encoded: isEncoded, range: nil)], database, headers, status: 200)
    }

    /// `PUT /{db}/{doc}/{file}`
    static let put: Endpoint = .work { context in
        let database = try context.database()
        let name = context.parameter("file")
        try context.checkAttachmentName()
        let encoding = (context.request.headers["Content-Encoding"] ?? "identity").trimmingBlanks().lowercased()
        guard encoding == "identity" || encoding == "gzip" else {
            throw HTTPError.contentType("Only gzip and identity content-encodings are supported")
        }
        let id = try context.checkedID()
        try WriteGuard(context).check(id)
        let revision = try DocumentEndpoints.revision(of: nil, context)
        let before = try revision.map { try known($0, of: id, in: database) }
        if EntityTag.asksForCreation(context.request),
            before?.content.attachments.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) ?? false
        {
            throw HTTPError.exists("The attachment exists already.")
        }
        let type = context.request.headers["Content-Type"] ?? "application/octet-stream"
        let writer = try database.attachmentWriter(contentType: type, encoding: encoding == "gzip" ? .gzip : nil)
        try copy(context.request, to: writer)
        let made = try writer.finish(name: name)
        // Of content that comes compressed CouchDB tells the length of that.
        let attachment = try made.described(
            as: name, contentType: type, revpos: (before?.revision.generation ?? 0) + 1,
            length: encoding == "gzip" ? made.encodedLength : nil)
        let others = before?.content.attachments.filter { !$0.name.utf8.elementsEqual(name.utf8) } ?? []
        let written = try write(id, before, [attachment] + others, database, context)
        var response = DocumentEndpoints.written(
            id, written, status: 201, context.location(context.parameter("db"), id.string, name))
        response.headers["ETag"] = nil
        return response
    }

    /// Copies the body of a request.
    ///
    /// - Throws: ``HTTPError`` with status 400 if the body is not what `Content-MD5` says.
    private static func copy(_ request: ServerRequest, to writer: AttachmentWriter) throws {
        let expected = request.headers["Content-MD5"]?.trimmingBlanks()
        let md5 = expected.map { _ in MD5() }
        while let piece = try request.body.read() {
            md5?.update(piece)
            try writer.write(piece)
        }
        guard let md5, let expected, Base64.decode(expected.utf8) != md5.finish() else { return }
        throw HTTPError.otherContent
    }

    /// `DELETE /{db}/{doc}/{file}`
    static let delete: Endpoint = .work { context in
        let database = try context.database()
        let name = context.parameter("file")
        try WireAttachment.check(name: name)
        let id = DocumentID(unchecked: context.documentID)
        guard let revision = try DocumentEndpoints.revision(of: nil, context) else {
            let winner = try DocumentLookup(source: database).winner(id)
            _ = try existing(name, in: winner.content.attachments)
            throw HTTPError.conflict
        }
        let before = try known(revision, of: id, in: database)
        _ = try existing(name, in: before.content.attachments)
        try EditedBlobs.checkDeletion(of: name, from: before.content.body)
        let others = before.content.attachments.filter { !$0.name.utf8.elementsEqual(name.utf8) }
        var response = DocumentEndpoints.written(
            id, try write(id, before, others, database, context), status: 200, nil)
        response.headers["ETag"] = nil
        return response
    }

    /// An answer of segments whose length is known.
    static func send(
        _ segments: [SegmentStream.Segment], _ database: Database, _ headers: HTTPHeaders, status: Int
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: headers,
            body: .stream(SegmentStream(database, segments), length: SegmentStream.length(segments)))
    }

    private static func write(
        _ id: DocumentID, _ before: DocumentLookup.Found?, _ attachments: [DocumentAttachment], _ database: Database,
        _ context: RequestContext
    ) throws -> String {
        let writeGuard = try WriteGuard(context)
        try writeGuard.check(id)
        let (body, all) = try EditedBlobs(database: database).adapt(
            before?.content.body ?? .empty, attachments, of: id, parent: before?.revision)
        let edit = DocumentEdit(
            id: id, parent: before?.revision,
            isDeleted: before.map { $0.record.tree[$0.revision]?.isDeleted ?? false } ?? false,
            body: body, attachments: all)
        guard let outcome = try writeGuard.write([edit], to: database).first else { throw HTTPError.conflict }
        return try outcome.get().description
    }

    private static func known(
        _ revision: WireRevision, of id: DocumentID, in database: Database
    ) throws -> DocumentLookup.Found {
        guard let found = try DocumentLookup(source: database).find(revision, of: id) else {
            throw HTTPError.missingRevision
        }
        return found
    }

    private static func existing(_ name: String, in attachments: [DocumentAttachment]) throws -> DocumentAttachment {
        guard let attachment = attachments.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            throw HTTPError.notFound("Document is missing attachment")
        }
        return attachment
    }
}

// MARK: - ByteRanges

/// The header `Range`, as CouchDB reads it.
enum ByteRanges {
    /// The requested ranges of a content; `nil` for all of it.
    ///
    /// - Throws: ``HTTPError/rangeNotSatisfiable``.
    static func parse(_ header: String?, length: Int64) throws -> [Range<Int64>]? {
        guard let header, header.hasPrefix("bytes=") else { return nil }
        var ranges: [Range<Int64>] = []
        for item in header.dropFirst(6).split(separator: ",") {
            let parts = String(item).trimmingBlanks().split(
                separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let first = bound(parts[0]), let last = bound(parts[1]) else { return nil }
            let from: Int64
            let to: Int64
            switch (first, last) {
            case (nil, nil): return nil
            case (0?, nil): return nil
            case (let start?, nil): (from, to) = (start, length - 1)
            case (nil, let count?): (from, to) = (max(length - count, 0), length - 1)
            case (let start?, let end?): (from, to) = (start, min(end, length - 1))
            }
            guard from <= to else { throw HTTPError.rangeNotSatisfiable }
            ranges.append(from..<to + 1)
        }
        return ranges.isEmpty ? nil : ranges
    }

    /// A number, or `.some(nil)` for a missing one; `nil` if malformed.
    private static func bound(_ text: Substring) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = Int64(text) else {
            return nil
        }
        return .some(number)
    }
}
