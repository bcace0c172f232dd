internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettlePlatform

/// The stored bytes of an attachment behind CouchDB's API: `GET /db/doc/name?rev=…`.
///
/// Compressed attachments are requested as gzip, so that the stored bytes arrive unchanged. After a cut, a range
/// request continues. A server that ignores ranges, as CouchDB does for compressed attachments, sends everything again,
/// and the bytes already handed over are skipped.
struct CouchDBAttachmentSource: AttachmentSource {
    let calls: PeerCalls
    let id: DocumentID
    let revision: RevisionID
    let name: String
    let digest: AttachmentDigest
    let encoding: DocumentAttachment.Encoding
    /// How many bytes are stored.
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
                // The last bytes are handed over only if the digest matches.
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

    private func open(from offset: Int64) async throws -> TransportResponse {
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
    private func start(of response: TransportResponse) throws -> Int64 {
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

    private func next(_ pieces: inout TransportBody.AsyncIterator) async throws -> [UInt8]? {
        do { return try await pieces.next() } catch { throw PeerError(error, at: calls.place(path)) }
    }

    private func wrong(_ problem: String) -> PeerError {
        PeerError(
            .attachmentMissing, "\(calls.place(path)) of \(revision): \(problem)")
    }
}
