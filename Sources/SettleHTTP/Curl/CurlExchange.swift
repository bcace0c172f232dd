#if canImport(CCurl)
internal import CCurl
internal import SettlePlatform

/// One transfer of curl; used only on the loop's thread.
final class CurlExchange {
    let transfer: CurlTransfer
    let easy: UnsafeMutableRawPointer
    /// The queue of the loop that the transfer came from.
    let origin: String
    /// The time at which the last byte was transferred, or the transfer last waited for this side.
    private(set) var lastActivity: ContinuousClock.Instant
    private(set) var head = CurlHead()
    private var wasHeadHandedOn = false
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?

    /// Prepares a handle.
    ///
    /// - Throws: ``TransportError`` for an option that this curl does not support.
    init(
        _ transfer: CurlTransfer, easy: UnsafeMutableRawPointer, origin: String, options: TransportOptions,
        now: ContinuousClock.Instant
    ) throws(TransportError) {
        self.transfer = transfer
        self.easy = easy
        self.origin = origin
        lastActivity = now
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        var setup = CurlSetup(easy)
        headerList = setup.apply(transfer.request, options)
        setup.check(settle_curl_set_error_buffer(easy, errorText))
        let context = Unmanaged.passUnretained(self).toOpaque()
        setup.check(
            settle_curl_set_callbacks(
                easy, context,
                { CurlExchange.of($3)?.received(header: UnsafeRawBufferPointer(start: $0, count: $1 * $2)) ?? 0 },
                { CurlExchange.of($3)?.received(body: UnsafeRawBufferPointer(start: $0, count: $1 * $2)) ?? 0 },
                { CurlExchange.of($3)?.send(UnsafeMutableRawBufferPointer(start: $0, count: $1 * $2)) ?? 0 },
                { CurlExchange.of($0)?.seek($1, $2) ?? CURL_SEEKFUNC_FAIL }))
        try setup.finish()
    }

    deinit {
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// The exchange of a callback or an ended transfer.
    static func of(_ context: UnsafeMutableRawPointer?) -> CurlExchange? {
        // The loop keeps the exchange alive until its handle is removed from curl.
        context.map { Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue() }
    }

    /// curl's explanation of the failure.
    var explanation: String { String(cString: errorText) }

    /// Treats waiting for this side as activity, so that the server is not timed out for that silence.
    func recordStalls(_ now: ContinuousClock.Instant) {
        if transfer.body.isStalled || transfer.upload.isStalled { lastActivity = now }
    }

    /// Passes on the head when it is complete. curl does not deliver another part of the head then.
    func handHeadOn() {
        guard head.isComplete, !wasHeadHandedOn else { return }
        wasHeadHandedOn = true
        transfer.put(head)
    }

    /// Resumes the directions that don't wait for this side.
    func resume() {
        lastActivity = .now
        let mask =
            (transfer.body.isStalled ? CURLPAUSE_RECV : 0) | (transfer.upload.isStalled ? CURLPAUSE_SEND : 0)
        curl_easy_pause(easy, mask)
    }

    private func received(header: UnsafeRawBufferPointer) -> Int {
        lastActivity = .now
        return head.append(header) ? header.count : 0
    }

    private func received(body: UnsafeRawBufferPointer) -> Int {
        lastActivity = .now
        switch transfer.body.offer(body) {
        case .taken: return body.count
        case .full: return settle_curl_pause_write
        case .ended: return 0
        }
    }

    private func send(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        lastActivity = .now
        switch transfer.upload.read(into: buffer) {
        case .bytes(let count): return count
        case .stall: return settle_curl_pause_read
        case .failed: return settle_curl_abort_read
        }
    }

    private func seek(_ offset: curl_off_t, _ whence: Int32) -> Int32 {
        guard offset == 0, whence == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
        transfer.upload.rewind()
        return CURL_SEEKFUNC_OK
    }
}

/// The head of a response, parsed line by line as curl delivers it.
struct CurlHead: Sendable {
    private(set) var status = 0
    private(set) var headers = HTTPHeaders()
    /// Whether the empty line that ends the head was seen. Trailers after the body are ignored.
    private(set) var isComplete = false
    private var size = 0
    /// The maximum size of a head in bytes.
    private static let limit = 256 * 1024

    /// Parses a line with its terminator; returns false if the head is too long.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !isComplete else { return true }
        size += line.count
        guard size <= Self.limit else { return false }
        let text = line.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        if text.starts(with: "HTTP/".utf8) {
            // Headers of interim responses, such as 100, are dropped.
            headers = HTTPHeaders()
            let code = text.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix { 48...57 ~= $0 }
            status = code.prefix(3).reduce(0) { $0 * 10 + Int($1 - 48) }
        } else if text.isEmpty {
            isComplete = status >= 200
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: text[..<colon], as: UTF8.self)
            headers.add(name, Self.trimmed(text[(colon + 1)...]))
        }
        return true
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let head = bytes.drop(while: isBlank)
        guard let last = head.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(decoding: head[...last], as: UTF8.self)
    }
}
#endif
