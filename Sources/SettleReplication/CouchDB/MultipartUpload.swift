internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Sends one revision with its attachments: `PUT /db/doc?new_edits=false` as `multipart/related`.
///
///     --boundary  {"_id": …, "_attachments": {"a": {"follows": true, …}, "b": {"stub": true, …}, "c": {"follows": true, …}}}
///     --boundary  the bytes of a
///     --boundary  the bytes of c
///     --boundary--
///
/// The stored bytes are read while they are sent. Their length is known, so the request has a `Content-Length`. A
/// source that is cut off is resumed at the offset reached, within the same request.
struct MultipartUpload {
    private let revision: PeerRevision
    private let branching: Branching
    private let calls: PeerCalls
    private let boundary: String

    init(_ revision: PeerRevision, branching: Branching, calls: PeerCalls) {
        self.revision = revision
        self.branching = branching
        self.calls = calls
        boundary = "settle-" + SecureRandom.hexadecimal()
    }

    /// Sends it.
    ///
    /// - Throws: ``PeerError`` if the server can't store anything now.
    func send() async throws -> StoreOutcome {
        let segments = self.segments
        let length = segments.reduce(0) { $0 + $1.length }
        let body = MultipartBody(segments)
        var query: HTTPQuery = ["new_edits": "false"]
        if branching == .refused { query["conflicts"] = "refuse" }
        do {
            let response = try await calls.stream("PUT", .document(revision.id), query: query) {
                $0.headers["Content-Type"] = "multipart/related; boundary=\"\(boundary)\""
                $0.body = .stream(length: length) { body.open() }
            }
            _ = try await response.collect(limit: 1 << 20)
            return .stored
        } catch {
            let error = PeerError(error, at: calls.place(.document(revision.id)))
            if error.code != .cancelled, let failure = body.failure { return .failed(failure) }
            return try await outcome(of: error)
        }
    }

    /// The pieces of the body, in order.
    private var segments: [MultipartBody.Segment] {
        var json: [UInt8] = []
        DocumentBytes.append(revision, contents: .follow, to: &json)
        var segments: [MultipartBody.Segment] = [
            .bytes(Array("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8) + json)
        ]
        for attachment in revision.attachments {
            var head =
                "\r\n--\(boundary)\r\nContent-Disposition: attachment; filename=\"\(Self.text(attachment.name))\""
            head += "\r\nContent-Type: \(Self.text(attachment.contentType))"
            head += "\r\nContent-Length: \(attachment.encodedLength)"
            if attachment.encoding != .identity { head += "\r\nContent-Encoding: \(attachment.encoding.rawValue)" }
            switch attachment.content {
            case .stub: continue
            case .bytes(let bytes): segments += [.bytes(Array((head + "\r\n\r\n").utf8)), .bytes(bytes)]
            case .source(let source):
                segments += [
                    .bytes(Array((head + "\r\n\r\n").utf8)), .source(source, length: attachment.encodedLength),
                ]
            }
        }
        return segments + [.bytes(Array("\r\n--\(boundary)--".utf8))]
    }

    /// Text as a header may have it. Parts match attachments by their order, so nothing depends on it.
    private static func text(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0 == "\"" ? "_" : $0 }))
    }

    private func outcome(of error: PeerError) async throws -> StoreOutcome {
        let one = StoreBatches.outcome(of: error, revision)
        switch error.code {
        case .cancelled, .unreachable, .timedOut, .busy, .insecure: throw error
        case .connectionLost, .serverError, .badAnswer, .database:
            // This document may be what makes the server fail.
            if case .refused(let told) = one { return .failed(told) }
            return one
        case .unauthorized, .forbidden, .notFound:
            // Distinguishes a refusal of this document from one of the whole database.
            _ = try await calls.bytes("GET", "")
            return one
        default: return one
        }
    }
}
