internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Answers of several parts: documents followed by their attachments, and ranges of attachments.
enum MultipartAnswers {
    /// A document with its attachments: `multipart/related`.
    static func document(
        _ found: DocumentLookup.Found, _ options: DocumentOptions, _ database: Database, hasMeta: Bool,
        _ context: any ReadContext
    ) throws -> HTTPResponse {
        var options = options
        (options.follows, options.hasEncodingInfo) = (true, true)
        let printer = DocumentPrinter(source: database, options: options)
        let printed = try printer.print(found.revision, found.content, of: found.record, hasMeta: hasMeta)
        let (segments, type) = related(printed.text.bytes, try wanted(found, printer))
        var headers: HTTPHeaders = ["Content-Type": type, "Cache-Control": "must-revalidate"]
        if !printed.hasMeta {
            let tag = EntityTag.of(found.revision.description)
            if let unchanged = EntityTag.notModified(tag, context.request) { return unchanged }
            headers["ETag"] = tag
        }
        if found.content.attachments.isEmpty { return .json(bytes: printed.text.bytes, headers: headers) }
        return AttachmentEndpoints.send(segments, database, headers, status: 200)
    }

    /// Revisions, each with its attachments: `multipart/mixed`.
    static func documents(
        _ results: [Result<DocumentLookup.Found, DocumentLookup.MissingRevision>], _ options: DocumentOptions,
        _ database: Database
    ) throws -> HTTPResponse {
        var options = options
        (options.hasAttachments, options.follows, options.hasEncodingInfo) = (true, true, true)
        let printer = DocumentPrinter(source: database, options: options)
        let boundary = SecureRandom.hexadecimal()
        var segments: [SegmentStream.Segment] = [.bytes(Array("--\(boundary)".utf8))]
        for result in results {
            switch result {
            case .success(let found):
                let printed = try printer.print(found.revision, found.content, of: found.record, hasMeta: false)
                let (inner, type) = related(printed.text.bytes, try wanted(found, printer))
                segments.append(.bytes(Array("\r\nContent-Type: \(type)\r\n\r\n".utf8)))
                segments += inner
            case .failure(let missing):
                let told = JSONValue.object(JSONObject([("missing", .string(missing.revision))])).utf8
                segments.append(
                    .bytes(Array("\r\nContent-Type: application/json; error=\"true\"\r\n\r\n".utf8) + told))
            }
            segments.append(.bytes(Array("\r\n--\(boundary)".utf8)))
        }
        segments.append(.bytes(Array("--".utf8)))
        return HTTPResponse(
            status: 200,
            headers: ["Content-Type": "multipart/mixed; boundary=\"\(boundary)\"", "Cache-Control": "must-revalidate"],
            body: .stream(SegmentStream(database, segments), length: nil))
    }

    /// Parts of one attachment: `multipart/byteranges`.
    static func ranges(
        _ ranges: [Range<Int64>], of attachment: DocumentAttachment, _ database: Database
    ) -> HTTPResponse {
        let boundary = SecureRandom.hexadecimal()
        var segments: [SegmentStream.Segment] = [.bytes(Array("\r\n--\(boundary)".utf8))]
        for range in ranges {
            let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(attachment.length)"
            let header = "\r\nContent-Type: \(plain(attachment.contentType))\r\nContent-Range: \(place)\r\n\r\n"
            segments += [
                .bytes(Array(header.utf8)), .content(attachment, encoded: true, range: range),
                .bytes(Array("\r\n--\(boundary)".utf8)),
            ]
        }
        segments.append(.bytes(Array("--".utf8)))
        return HTTPResponse(
            status: 206, headers: ["Content-Type": "multipart/byteranges; boundary=\"\(boundary)\""],
            body: .stream(SegmentStream(database, segments), length: nil))
    }

    /// A document's JSON and the attachments that follow it, and the type of the whole.
    static func related(
        _ json: [UInt8], _ attachments: [DocumentAttachment]
    ) -> (segments: [SegmentStream.Segment], type: String) {
        if attachments.isEmpty { return ([.bytes(json)], "application/json") }
        let boundary = SecureRandom.hexadecimal()
        var segments: [SegmentStream.Segment] = [
            .bytes(Array("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8) + json)
        ]
        for attachment in attachments {
            var header = """
                \r\n--\(boundary)\r\nContent-Disposition: attachment; filename="\(plain(attachment.name))"\
                \r\nContent-Type: \(plain(attachment.contentType))\r\nContent-Length: \(attachment.encodedLength)
                """
            if attachment.encoding == .gzip { header += "\r\nContent-Encoding: gzip" }
            segments += [
                .bytes(Array("\(header)\r\n\r\n".utf8)), .content(attachment, encoded: true, range: nil),
            ]
        }
        segments.append(.bytes(Array("\r\n--\(boundary)--".utf8)))
        return (segments, "multipart/related; boundary=\"\(boundary)\"")
    }

    /// Text that can't end a header's line or what stands in quotes there.
    static func plain(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 >= 32 && $0 != UInt8(ascii: "\"") && $0 != 127 }, as: UTF8.self)
    }

    /// The attachments that come with a revision.
    static func wanted(
        _ found: DocumentLookup.Found, _ printer: DocumentPrinter
    ) throws -> [DocumentAttachment] {
        let history = found.record.tree.history(of: found.revision)
        let wanted = try printer.wanted(found.content, history, of: found.record)
        return zip(found.content.attachments, wanted).filter(\.1).map(\.0)
    }
}

// MARK: - SegmentStream

/// Sends pieces of text and contents of attachments, one after the other, in bounded memory.
final class SegmentStream: ResponseStream {
    /// A segment of the answer.
    enum Segment: Sendable {
        case bytes([UInt8])
        /// An attachment's content: as it is stored, or expanded; whole, or a part of what is stored.
        case content(DocumentAttachment, encoded: Bool, range: Range<Int64>?)
    }

    private struct State {
        var rest: ArraySlice<Segment>
        var reader: AttachmentReader?
    }

    private let database: Database
    private let state: Guarded<State>

    init(_ database: Database, _ segments: [Segment]) {
        self.database = database
        state = Guarded(State(rest: ArraySlice(segments)))
    }

    func next() throws -> ResponseStep {
        try state.withLock { state in
            while true {
                if let piece = try state.reader?.read() { return .piece(piece) }
                state.reader = nil
                switch state.rest.popFirst() {
                case nil: return .end
                case .bytes(let bytes)?: if !bytes.isEmpty { return .piece(bytes) }
                case .content(let attachment, let encoded, let range)?:
                    state.reader = try database.attachmentReader(for: attachment, encoded: encoded, range: range)
                }
            }
        }
    }

    /// The length of all segments in bytes; `nil` if a content was stored compressed and its expanded length is unknown.
    static func length(_ segments: [Segment]) -> Int64? {
        var sum: Int64 = 0
        for segment in segments {
            switch segment {
            case .bytes(let bytes): sum += Int64(bytes.count)
            case .content(_, _, let range?): sum += Int64(range.count)
            case .content(let attachment, true, nil): sum += attachment.encodedLength
            case .content(let attachment, false, nil):
                if attachment.encoding == .gzip, attachment.length == attachment.encodedLength { return nil }
                sum += attachment.length
            }
        }
        return sum
    }
}
