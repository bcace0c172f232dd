internal import SettleHTTP
internal import SettlePlatform

/// Compresses long JSON answers with gzip for clients that accept it.
///
/// A compressed length tells something about the content. Whoever can make a browser send requests with its user's
/// rights, can put text of their own into an answer and can see its length on the line, may guess a secret in the
/// same answer byte by byte (BREACH). So an answer to a request that a page may have made is not compressed: one with
/// a cookie, or with a header by which browsers say where a request comes from.
///
/// Attachments are sent as they are stored, and never compressed here.
enum ResponseCompression {
    /// The least length of a body that is compressed, in bytes.
    private static let least = 1024
    private static let types: Set = ["application/json", "text/plain"]
    /// The headers that only browsers send, or that carry the rights of a browser's user.
    private static let ofBrowsers = ["Cookie", "Origin", "Referer", "Sec-Fetch-Site"]

    /// The settings of zlib: its level, and its window and memory as powers of two.
    fileprivate struct Settings {
        /// For lists and documents: 64 KiB of memory; a larger window shortens JSON by less than 1 %.
        static let list = Settings(level: 5, window: 13, memory: 6)
        /// For feeds, thousands of which may wait: 8 KiB.
        static let feed = Settings(level: 5, window: 10, memory: 3)

        let level: Int32
        let window: Int32
        let memory: Int32
    }

    /// Compresses the body of a response, if it is worth it and allowed.
    static func apply(to response: inout HTTPResponse, _ request: ServerRequest) {
        guard request.headers["Accept-Encoding"] != nil, isCompressible(response),
            !ofBrowsers.contains(where: { request.headers[$0] != nil })
        else { return }
        // A cache must not give a compressed answer to another client.
        response.headers.add("Vary", "Accept-Encoding")
        guard request.acceptsGzip, request.method != "HEAD" else { return }
        switch response.body.content {
        case .bytes(let bytes):
            let settings = Settings.list
            guard
                let compressed = try? Deflate.compress(
                    bytes, .gzip, level: settings.level, window: settings.window, memory: settings.memory),
                compressed.count < bytes.count
            else { return }
            response.body = .bytes(compressed)
        case .stream(let stream, _):
            let settings = request.target.query["feed"].map { $0 == "normal" } ?? true ? Settings.list : .feed
            response.body = .stream(CompressedStream(stream, settings), length: nil)
        case .later, .pieces, .upgrade: return
        }
        response.headers["Content-Encoding"] = "gzip"
    }

    private static func isCompressible(_ response: HTTPResponse) -> Bool {
        // Most answers are short, which is known sooner than their type.
        let isLong =
            switch response.body.content {
            case .bytes(let bytes): bytes.count >= least
            case .stream(_, let length): length.map { $0 >= least } ?? true
            case .later, .pieces, .upgrade: false
            }
        guard isLong, let type = response.headers.bare("Content-Type"), types.contains(type) else { return false }
        return response.headers["Content-Encoding"] == nil && response.headers["Accept-Ranges"] == nil
    }
}

// MARK: - CompressedStream

/// A stream of compressed bytes. Before the original one waits, everything so far is sent, so that a feed is as
/// prompt as without compression.
private final class CompressedStream: ResponseStream {
    private struct State {
        let settings: ResponseCompression.Settings
        /// Nothing before the first bytes, and after the end.
        var deflate: Deflate?
        var isBegun = false
        /// Whether bytes were compressed since the last flush.
        var isPending = false
        /// The step to return before the next one of the original stream.
        var next: ResponseStep?
    }

    private let original: any ResponseStream
    private let state: Guarded<State>

    init(_ original: any ResponseStream, _ settings: ResponseCompression.Settings) {
        self.original = original
        state = Guarded(State(settings: settings))
    }

    func begin(wake: @escaping @Sendable () -> Void) { original.begin(wake: wake) }
    func finish() -> Bool { original.finish() }

    func end() {
        original.end()
        state.withLock { $0.deflate = nil }
    }

    func next() throws -> ResponseStep {
        let kept = state.withLock { state in
            defer { state.next = nil }
            return state.next
        }
        if let kept { return kept }
        while true {
            let step = try original.next()
            switch step {
            case .piece(let bytes):
                // The original stream lets other work run.
                if bytes.isEmpty { return step }
                let compressed = try compress(bytes, .none)
                if !compressed.isEmpty { return .piece(compressed) }
            case .wait, .end:
                let isEnd = if case .end = step { true } else { false }
                guard isEnd || state.withLock({ $0.isPending }) else { return step }
                state.withLock { $0.next = step }
                return .piece(try compress([], isEnd ? .finish : .sync))
            }
        }
    }

    private func compress(_ bytes: [UInt8], _ flush: Deflate.Flush) throws -> [UInt8] {
        try state.withLock { state in
            if !state.isBegun {
                let settings = state.settings
                state.deflate = try Deflate(
                    .compress, .gzip, level: settings.level, window: settings.window, memory: settings.memory)
                state.isBegun = true
            }
            var compressed: [UInt8] = []
            try bytes.withUnsafeBytes { try state.deflate?.process($0, flush) { compressed += $0 } }
            state.isPending = !bytes.isEmpty
            return compressed
        }
    }
}
