internal import SettleDatabase

/// Compresses request bodies.
enum HTTPCompression {
    /// Bodies with fewer bytes are not compressed.
    private static let least = 1024

    /// The request with its body compressed, if that is bytes and large enough.
    static func compress(_ request: TransportRequest) throws -> TransportRequest {
        guard case .bytes(let bytes) = request.body, bytes.count >= least, request.headers["Content-Encoding"] == nil
        else { return request }
        var compressed: [UInt8] = []
        try bytes.withUnsafeBytes { bytes in
            try Gzip(.compress).process(bytes, isLast: true) { compressed.append(contentsOf: $0) }
        }
        guard compressed.count < bytes.count else { return request }
        var copy = request
        copy.body = .bytes(compressed)
        copy.headers["Content-Encoding"] = "gzip"
        return copy
    }
}
