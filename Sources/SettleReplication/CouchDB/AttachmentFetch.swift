internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Decides how the contents of fetched revisions' attachments are fetched.
///
///     an ancestor at the target has it         ─→ stub
///     small, and stored unencoded             ─→ bytes: fetched for many revisions in one request
///     large, compressed, or inconsistent      ─→ source: streamed when the target stores it
struct AttachmentFetch {
    let peer: CouchDBPeer
    let requests: [RevisionRequest]
    let calls: PeerCalls

    /// Completes the answers. They belong to the first of the requests.
    ///
    /// - Parameters:
    ///   - answers: The answers; all their attachments are stubs.
    ///   - budget: The maximum number of bytes to fetch.
    /// - Throws: ``PeerError`` when the server can't be reached.
    func complete(_ answers: inout [RevisionAnswer], budget: Int) async throws {
        var wanted: [Int] = []
        var rest = Int64(budget)
        for index in answers.indices {
            guard case .found(var revision) = answers[index], !revision.attachments.isEmpty else { continue }
            let known = Self.newestKnown(requests[index], revision.history)
            var sum: Int64 = 0
            var areAllSmall = true
            for place in revision.attachments.indices {
                let attachment = revision.attachments[place]
                if attachment.revpos > 0, attachment.revpos <= known { continue }
                revision.attachments[place].content = .source(source(of: attachment, revision))
                sum = sum.adding(clamped: attachment.length)
                areAllSmall =
                    areAllSmall && attachment.encoding == .identity
                    && attachment.length <= peer.options.inlineAttachmentBytes
            }
            answers[index] = .found(revision)
            if areAllSmall, sum <= rest, revision.attachments.contains(where: \.isSource) {
                wanted.append(index)
                rest -= sum
            }
        }
        guard !wanted.isEmpty, !peer.learnt.withLock({ $0.lacksBulkGet }) else { return }
        try await fetch(wanted, &answers)
    }

    /// The generation of the newest revision of a history that the target has; 0 if it has none.
    private static func newestKnown(_ request: RevisionRequest, _ history: RevisionHistory) -> UInt64 {
        guard !request.knownAncestors.isEmpty else { return 0 }
        let known = Set(request.knownAncestors)
        return history.revisions.dropFirst().first(where: known.contains)?.generation ?? 0
    }

    private func source(of attachment: PeerAttachment, _ revision: PeerRevision) -> CouchDBAttachmentSource {
        CouchDBAttachmentSource(
            calls: calls, id: revision.id, revision: revision.revision, name: attachment.name,
            digest: attachment.digest, encoding: attachment.encoding, length: attachment.encodedLength)
    }

    /// Fetches the small attachments of some revisions. Those that don't arrive intact are streamed later.
    private func fetch(_ wanted: [Int], _ answers: inout [RevisionAnswer]) async throws {
        let asked = wanted.map { requests[$0] }
        var matcher = BulkGetMatcher(asked, budget: .max, place: calls.place("_bulk_get"))
        do {
            let response = try await calls.stream(
                "POST", "_bulk_get",
                query: ["revs": "true", "latest": "false", "attachments": "true", "att_encoding_info": "true"],
                json: WireRequests.bulkGet(asked, tellsKnown: true))
            _ = try await calls.elements(
                of: response, "_bulk_get", "results", longest: peer.options.largestRevision
            ) { element in
                matcher.receive(element)
                return true
            }
        } catch let error as PeerError where error.code != .cancelled {
            // These attachments can still be streamed one by one.
            if error.code == .unreachable || error.code == .unauthorized { throw error }
        }
        for (index, answer) in zip(wanted, matcher.result) {
            guard case .found(var revision) = answers[index], case .found(let fetched) = answer else { continue }
            for place in revision.attachments.indices where revision.attachments[place].isSource {
                let attachment = revision.attachments[place]
                let same = fetched.attachments.first { $0.name.utf8.elementsEqual(attachment.name.utf8) }
                guard case .bytes(let bytes)? = same?.content, Int64(bytes.count) == attachment.length,
                    AttachmentDigest(of: bytes) == attachment.digest
                else { continue }
                revision.attachments[place].content = .bytes(bytes)
            }
            answers[index] = .found(revision)
        }
    }
}

extension PeerAttachment {
    /// Whether the content is streamed from the source.
    fileprivate var isSource: Bool { if case .source = content { true } else { false } }
}

extension AttachmentDigest {
    /// The digest of bytes; never `nil`.
    fileprivate init?(of bytes: [UInt8]) {
        let md5 = MD5()
        md5.update(bytes)
        self.init(md5: md5.finish())
    }
}

// MARK: - CouchDBAttachmentSource

/// The stored bytes of an attachment at a CouchDB server: `GET /db/doc/name?rev=…`.
///
/// Compressed attachments are requested as gzip, so that the stored bytes arrive unchanged. After a lost
/// connection, a range request continues. A server that ignores ranges, as CouchDB does for compressed attachments,
/// sends everything again; the bytes that were delivered before are skipped.
struct CouchDBAttachmentSource: AttachmentSource {
    let calls: PeerCalls
    let id: DocumentID
    let revision: RevisionID
    let name: String
    let digest: AttachmentDigest
    let encoding: DocumentAttachment.Encoding
    /// The number of stored bytes.
    let length: Int64

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        guard offset < length || offset == 0 else { return }
        let response = try await open(from: offset)
        var place = try start(of: response)
        guard place <= offset else { throw wrong("the server began at byte \(place) in place of \(offset)") }
        let md5 = offset == 0 ? MD5() : nil
        var pieces = response.body.makeAsyncIterator()
        while let piece = try await next(&pieces) {
            let end = place + Int64(piece.count)
            guard end <= length else { throw wrong("it has more than the \(length) bytes it should have") }
            if end > offset {
                let news = place >= offset ? piece : Array(piece[Int(offset - place)...])
                md5?.update(news)
                // The last bytes are delivered only if the digest matches.
                if end == length, let md5, AttachmentDigest(md5: md5.finish()) != digest {
                    throw wrong("it is not what its digest \(digest) says")
                }
                try await body(news)
            }
            place = end
        }
        guard place == length else {
            throw PeerError(.connectionLost, "\(calls.place(path)) ended after \(place) of \(length) bytes")
        }
    }

    private var path: HTTPPath { .attachment(name, of: id) }

    private func open(from offset: Int64) async throws -> HTTPResponse {
        do {
            return try await calls.stream("GET", path, query: ["rev": revision.description]) { request in
                request.acceptsCompression = false
                request.headers["Accept"] = "*/*"
                request.headers["Accept-Encoding"] = encoding == .gzip ? "gzip" : "identity"
                if offset > 0 { request.headers["Range"] = "bytes=\(offset)-" }
            }
        } catch let error as PeerError where error.status == 404 && !error.isAboutDatabase {
            throw PeerError(.attachmentMissing, error.message, status: 404, cause: error.cause)
        }
    }

    /// The offset in the stored bytes at which a response starts.
    private func start(of response: HTTPResponse) throws -> Int64 {
        let given = response.headers["Content-Encoding"]?.lowercased() ?? "identity"
        let isStored = encoding == .gzip ? given == "gzip" || given == "x-gzip" : given == "identity"
        guard isStored else {
            throw wrong("it was sent with the encoding \(given), where \(encoding.rawValue) is stored")
        }
        guard response.status == 206 else { return 0 }
        // bytes 100-199/200
        let range = response.headers["Content-Range"]?.dropFirst("bytes ".count).prefix { $0 != "-" }
        guard let range, let start = Int64(range) else { throw wrong("a part came without its Content-Range") }
        return start
    }

    private func next(_ pieces: inout HTTPBody.AsyncIterator) async throws -> [UInt8]? {
        do { return try await pieces.next() } catch { throw PeerError(error, at: calls.place(path)) }
    }

    private func wrong(_ problem: String) -> PeerError {
        PeerError(
            .attachmentMissing, "\(calls.place(path)) of \(revision): \(problem)")
    }
}
