internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Sends one revision with its attachments: `PUT /db/doc?new_edits=false` as `multipart/related`.
///
///     --boundary  {"_id": …, "_attachments": {"a": {"follows": true, …}, "b": {"stub": true, …}, "c": {"follows": true, …}}}
///     --boundary  the bytes of a
///     --boundary  the bytes of c
///     --boundary--
///
/// The stored bytes are read while they are sent. Their length is known, so the request has a `Content-Length`. If
/// a source is interrupted, it is resumed at the reached offset within the same request.
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

    /// Sends the request.
    ///
    /// - Throws: ``PeerError`` if the server can't store anything at the moment.
    func send() async throws -> StoreOutcome {
        let body = MultipartBody(segments)
        var query: HTTPQuery = ["new_edits": "false"]
        if branching == .refused { query["conflicts"] = "refuse" }
        do {
            let response = try await calls.stream("PUT", .document(revision.id), query: query) {
                $0.headers["Content-Type"] = "multipart/related; boundary=\"\(boundary)\""
                $0.body = .stream(length: body.length) { body.open() }
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
        let json = revision.wire(.follow).bytes(.bodyLate)
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

    /// The text of a header, with other characters replaced. Parts match attachments by their order, so nothing
    /// depends on it.
    private static func text(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0 == "\"" ? "_" : $0 }))
    }

    private func outcome(of error: PeerError) async throws -> StoreOutcome {
        let one = StoreBatches.outcome(of: error, revision)
        switch error.code {
        case .cancelled, .unreachable, .timedOut, .busy, .insecure: throw error
        case .connectionLost, .serverError, .badAnswer, .database:
            // This document may be the reason why the server fails.
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

// MARK: - MultipartBody

/// The body of a request, made of bytes and of attachments that are read while they are sent.
final class MultipartBody: Sendable {
    /// A piece of the body.
    enum Segment: Sendable {
        case bytes([UInt8])
        case source(any AttachmentSource, length: Int64)

        /// The number of bytes.
        var length: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .source(_, let length): length
            }
        }
    }

    private let segments: [Segment]
    private let failed = Guarded<PeerError?>(nil)

    init(_ segments: [Segment]) { self.segments = segments }

    /// The number of bytes. The source of an attachment may claim any length.
    var length: Int64 { segments.reduce(Int64(0)) { $0.adding(clamped: $1.length) } }

    /// Why a source could not be read; `nil` if none failed.
    var failure: PeerError? { failed.withLock { $0 } }

    /// Starts the body.
    func open() -> HTTPBody.Producer {
        let reading = MultipartReading(segments)
        return {
            do { return try await reading.next() } catch {
                let error = PeerError(error, at: "the source of an attachment")
                self.failed.withLock { $0 = error }
                throw error
            }
        }
    }
}

/// One pass over a body from its start.
private final class MultipartReading: Sendable {
    private let rest: Guarded<ArraySlice<MultipartBody.Segment>>
    private let source = Guarded<OpenSource?>(nil)

    init(_ segments: [MultipartBody.Segment]) { rest = Guarded(segments[...]) }

    deinit { source.withLock { $0?.cancel() } }

    /// The next piece; `nil` at the end.
    func next() async throws -> [UInt8]? {
        while true {
            if let open = source.withLock({ $0 }) {
                if let piece = try await open.next() { return piece }
                source.withLock { $0 = nil }
            }
            guard let segment = rest.withLock({ $0.popFirst() }) else { return nil }
            switch segment {
            case .bytes(let bytes): if !bytes.isEmpty { return bytes }
            case .source(let source, let length):
                self.source.withLock { $0 = OpenSource(source, length: length) }
            }
        }
    }
}

// MARK: - OpenSource

/// A source that a task reads into a pipe; the body's reader pulls from the pipe.
///
/// After an interruption, the source is read again from the reached offset. The task gives up after a few attempts
/// without progress.
private struct OpenSource: Sendable {
    private let pipe = BytePipe()
    private let reader: Task<Void, Never>
    /// The maximum number of consecutive attempts without progress.
    private static let attempts = 4

    /// Starts to read a source.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - length: The number of bytes.
    init(_ source: any AttachmentSource, length: Int64) {
        reader = Task { [pipe] in
            do {
                try await Self.read(source, length: length) { try await pipe.put($0) }
                pipe.finish()
            } catch { pipe.finish(error) }
        }
    }

    /// Stops reading; a waiting reader of the body is woken.
    func cancel() {
        reader.cancel()
        pipe.cut()
    }

    /// The next piece; `nil` at the end.
    func next() async throws -> [UInt8]? { try await pipe.next(onCancel: cancel) }

    /// Reads a source to its end, resuming after cuts.
    private static func read(
        _ source: any AttachmentSource, length: Int64, _ body: ([UInt8]) async throws -> Void
    ) async throws {
        var offset: Int64 = 0
        var failures = 0
        while true {
            let start = offset
            do {
                try await source.read(from: start) { piece in
                    try await body(piece)
                    offset += Int64(piece.count)
                }
                break
            } catch let error as PeerError where error.isTransient {
                failures = offset > start ? 1 : failures + 1
                guard failures < attempts else { throw error }
                try await Task.sleep(for: .milliseconds(50 << failures))
            }
        }
        guard offset == length else {
            throw PeerError(.attachmentMissing, "an attachment has \(offset) bytes, where it should have \(length)")
        }
    }
}
