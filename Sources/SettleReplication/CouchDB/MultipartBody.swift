internal import SettleDatabase
internal import SettlePlatform

/// The body of a request, made of bytes and of attachments that are read while they are sent.
final class MultipartBody: Sendable {
    /// A piece of the body.
    enum Segment: Sendable {
        case bytes([UInt8])
        case source(any AttachmentSource, length: Int64)

        /// How many bytes it has.
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

    /// Why a source could not be read; `nil` if none failed.
    var failure: PeerError? { failed.withLock { $0 } }

    /// Starts the body.
    func open() -> TransportRequestBody.Producer {
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
    private let pipe = Guarded<AttachmentPipe?>(nil)

    init(_ segments: [MultipartBody.Segment]) { rest = Guarded(segments[...]) }

    deinit { pipe.withLock { $0?.cancel() } }

    /// The next piece; `nil` at the end.
    func next() async throws -> [UInt8]? {
        while true {
            if let open = pipe.withLock({ $0 }) {
                if let piece = try await open.next() { return piece }
                pipe.withLock { $0 = nil }
            }
            guard let segment = rest.withLock({ $0.popFirst() }) else { return nil }
            switch segment {
            case .bytes(let bytes): if !bytes.isEmpty { return bytes }
            case .source(let source, let length):
                pipe.withLock { $0 = AttachmentPipe(source, length: length) }
            }
        }
    }
}
