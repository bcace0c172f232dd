internal import CMicroHTTPD
internal import SettleHTTP

/// An answer as libmicrohttpd sends it.
struct MicroHTTPDAnswer {
    let response: HTTPResponse
    /// Whether only its head is sent.
    let isHead: Bool
    /// The exchange that has the rest of it: the bytes of a stream, or a use for the socket.
    let exchange: MicroHTTPDExchange

    /// Gives it to the library.
    func queue(on connection: OpaquePointer) -> Bool {
        guard let made = make() else { return false }
        defer { MHD_destroy_response(made) }
        for field in response.headers.fields where MHD_add_response_header(made, field.name, field.value) != .YES {
            continue  // a name or value that may not be in a header
        }
        return MHD_queue_response(connection, UInt32(response.status), made) == .YES
    }

    private func make() -> OpaquePointer? {
        // The exchange outlives the response: the library lets go of that before it says the request is over. It outlives the socket,
        // too: the library says that the request is over when that is given back.
        let context = Unmanaged.passUnretained(exchange).toOpaque()
        switch response.body.content {
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { buffer in
                MHD_create_response_from_buffer(
                    buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress), .RESPMEM_MUST_COPY)
            }
        // The router gives neither of them: what comes later has come, and pieces are a client's.
        case .later, .pieces: return nil
        case .upgrade: return MHD_create_response_for_upgrade(upgradeConnection, context)
        case .stream(let stream, let length) where isHead:
            stream.end()
            let made = MHD_create_response_from_callback(
                length.map { UInt64($0) } ?? UInt64.max, 1024, { _, _, _, _ in -1 }, nil, nil)
            if length == nil, let made { settle_mhd_end_by_closing(made) }
            return made
        case .stream(_, let length):
            // Chunks are made in the connection's own memory: only answers of a known length need a block, and thousands
            // of feeds may wait with theirs.
            return MHD_create_response_from_callback(
                length.map { UInt64($0) } ?? UInt64.max, length == nil ? 1024 : 64 * 1024, supplyBytes, context, nil)
        }
    }
}

/// Called by the library when the head of an answer was sent after which the connection is no longer HTTP's.
private func upgradeConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ own: UnsafeMutableRawPointer?,
    _ first: UnsafePointer<CChar>?, _ count: Int, _ descriptor: Int32, _ handle: OpaquePointer?
) {
    guard let context, let handle else { return }
    let bytes = UnsafeRawBufferPointer(start: first, count: first == nil ? 0 : count)
    Unmanaged<MicroHTTPDExchange>.fromOpaque(context).takeUnretainedValue().upgrade(descriptor, Array(bytes), handle)
}

/// Called by the library when a streamed answer has room.
private func supplyBytes(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ count: Int
) -> Int {
    guard let context, let buffer else { return -2 }
    let exchange = Unmanaged<MicroHTTPDExchange>.fromOpaque(context).takeUnretainedValue()
    switch exchange.supply(UnsafeMutableRawBufferPointer(start: buffer, count: count)) {
    case .copied(let count): return count
    case .none: return 0
    case .end: return -1
    case .failure: return -2
    }
}

// MARK: - Answers of the transport

extension HTTPResponse {
    /// Whether the connection is no longer HTTP's after it.
    var isUpgrade: Bool { if case .upgrade = body.content { status == 101 } else { false } }

    /// Whether its status is one that ends a request.
    var canBeSent: Bool { (200...599).contains(status) || isUpgrade }

    static func malformed(_ reason: String) -> HTTPResponse {
        HTTPResponse(
            status: 400, headers: ["Content-Type": "application/json", "Connection": "close"],
            body: .bytes(Array("{\"error\":\"bad_request\",\"reason\":\"\(reason)\"}\n".utf8)))
    }

    /// The refusal of a body that is too large; it names the setting if that is the limit.
    static func tooLarge(_ body: ArrivingBody) -> HTTPResponse {
        let advice =
            body.isLargerThanAny
            ? ": the setting upload_size (max_http_request_size) allows \(body.bodyLimit) bytes" : ""
        return HTTPResponse(
            status: 413, headers: ["Content-Type": "application/json"],
            body: .bytes(
                Array("{\"error\":\"too_large\",\"reason\":\"the request entity is too large\(advice)\"}\n".utf8)))
    }

    static let withoutStatus = HTTPResponse(
        status: 500, headers: ["Content-Type": "application/json"],
        body: .bytes(
            Array("{\"error\":\"unknown_error\",\"reason\":\"the answer had a status that can't be sent\"}\n".utf8)))
}
