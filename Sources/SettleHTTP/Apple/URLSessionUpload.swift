#if canImport(Darwin)
internal import Foundation
internal import Network

/// Writes the pieces of a body into one end of a pair of streams; `URLSession` reads the other end.
// Unchecked: it needs no lock, because only one block of the serial queue at a time uses the stream.
final class URLSessionUpload: @unchecked Sendable {
    private let output: OutputStream
    private let length: Int64?
    private let producer: HTTPBody.Producer
    private let url: HTTPURL
    private let end: URLSessionEnd
    /// Writing blocks while the buffer between the streams is full.
    private let queue = DispatchQueue(label: "settle.upload")

    init(
        _ output: OutputStream, length: Int64?, _ producer: @escaping HTTPBody.Producer, _ url: HTTPURL,
        _ end: URLSessionEnd
    ) {
        (self.output, self.length, self.producer, self.url, self.end) = (output, length, producer, url, end)
    }

    /// Starts to write.
    func start() {
        Task {
            do {
                output.open()
                var sent: Int64 = 0
                while let piece = try await producer() {
                    sent += Int64(piece.count)
                    guard await write(piece) else { break }
                }
                if let length, sent != length {
                    end.end(TransportError(.bodyFailed, "a body of \(length) bytes was promised, and \(sent) came"))
                }
            } catch {
                end.end(TransportError(.bodyFailed, "the body for \(url.authority) could not be made", cause: error))
            }
            queue.async { self.output.close() }
        }
    }

    /// Writes a piece; returns false if the stream is no longer read.
    private func write(_ piece: [UInt8]) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async {
                var written = 0
                while written < piece.count {
                    let count = piece[written...].withUnsafeBufferPointer { buffer in
                        buffer.baseAddress.map { self.output.write($0, maxLength: buffer.count) } ?? 0
                    }
                    guard count > 0 else { break }
                    written += count
                }
                continuation.resume(returning: written == piece.count)
            }
        }
    }
}

/// The bytes of a response in pieces, which are read only on request.
actor URLSessionPieces {
    private var iterator: URLSession.AsyncBytes.Iterator

    init(_ bytes: URLSession.AsyncBytes) { iterator = bytes.makeAsyncIterator() }

    /// The next piece: up to the end of a line, because a feed may pause there, or 64 KiB; `nil` at the end.
    func next() async throws -> [UInt8]? {
        var (piece, source) = ([UInt8](), iterator)
        defer { iterator = source }
        while piece.count < 64 * 1024, let byte = try await source.next(isolation: self) {
            piece.append(byte)
            if byte == UInt8(ascii: "\n") { break }
        }
        return piece.isEmpty ? nil : piece
    }
}

extension HTTPProxy {
    /// Whether requests go directly to their hosts.
    var isDirect: Bool { if case .none = kind { true } else { false } }

    /// The proxies for `URLSession`; `nil` for those of the system.
    var configurations: [ProxyConfiguration]? {
        guard case .url(let url, let user, let password, let except) = kind,
            let parts = URLComponents(string: url), let host = parts.host,
            let port = NWEndpoint.Port(rawValue: UInt16(clamping: parts.port ?? 1080))
        else { return nil }
        let place = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: port)
        var proxy: ProxyConfiguration
        switch parts.scheme {
        case "socks5", "socks5h": proxy = ProxyConfiguration(socksv5Proxy: place)
        case "https": proxy = ProxyConfiguration(httpCONNECTProxy: place, tlsOptions: NWProtocolTLS.Options())
        default: proxy = ProxyConfiguration(httpCONNECTProxy: place)
        }
        if let user { proxy.applyCredential(username: user, password: password ?? "") }
        proxy.excludedDomains = except
        return [proxy]
    }
}
#endif
