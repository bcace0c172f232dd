internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import Synchronization

/// A request that the server has received; an ``HTTPRequest`` is one to send.
struct ServerRequest: Sendable {
    /// Why a request's body could not be read.
    enum BodyError: Error {
        /// The body exceeds the limit.
        case tooLarge
    }

    /// The method, in the client's spelling.
    var method: String
    /// Path and query.
    let target: RequestTarget
    /// The header fields.
    let headers: HTTPHeaders
    /// The body, which has arrived completely.
    var body: any RequestBody
    /// The client's address, without a port.
    var peer = ""
    /// The client's route to the server.
    var route = ClientRoute()
    /// Whether the client still waits for the response.
    var life = RequestLife()

    /// Whether the response may be compressed with gzip.
    var acceptsGzip: Bool {
        guard let header = headers["Accept-Encoding"] else { return false }
        return header.split(separator: ",").contains { item in
            let parts = item.split(separator: ";").map { String($0).trimmingBlanks() }
            guard let name = parts.first, name == "gzip" || name == "*" else { return false }
            return !parts.dropFirst().contains { $0 == "q=0" || $0 == "q=0.0" }
        }
    }
}

/// Whether the client of a request still waits for the response.
///
/// Long operations that change nothing, such as queries, check this. A closed connection is noticed within about a
/// second.
final class RequestLife: Sendable {
    private let isOver = Atomic<Bool>(false)

    /// Whether the client has disconnected, or has closed its half of the connection.
    var isAbandoned: Bool { isOver.load(ordering: .relaxed) }

    /// Records that the client has disconnected.
    func abandon() { isOver.store(true, ordering: .relaxed) }
}

/// The body of a request, which has arrived completely. One thread at a time reads it piece by piece.
protocol RequestBody: AnyObject, Sendable {
    /// The length that the client has declared, if any.
    var declaredLength: Int64? { get }

    /// The next piece, never empty, or `nil` at the end.
    ///
    /// - Throws: ``DatabaseError`` when it can't be read.
    func read() throws -> [UInt8]?
}

extension RequestBody {
    /// Reads the rest of the body.
    ///
    /// - Throws: ``ServerRequest/BodyError/tooLarge`` above a limit.
    func readAll(limit: Int) throws -> [UInt8] {
        if let declaredLength, declaredLength > limit { throw ServerRequest.BodyError.tooLarge }
        var all: [UInt8] = []
        while let piece = try read() {
            guard all.count + piece.count <= limit else { throw ServerRequest.BodyError.tooLarge }
            if all.isEmpty, declaredLength.map({ $0 <= piece.count }) ?? true {
                all = piece
            } else {
                // Reserve the whole size: an array that grows takes twice its size, and three times while it is
                // copied.
                if all.isEmpty { all.reserveCapacity(Int(clamping: declaredLength ?? 0)) }
                all += piece
            }
        }
        return all
    }
}

// MARK: - BufferedBody

/// A body in memory.
final class BufferedBody: RequestBody {
    let declaredLength: Int64?
    private let bytes: Guarded<[UInt8]>

    init(_ bytes: [UInt8] = []) {
        declaredLength = Int64(bytes.count)
        self.bytes = Guarded(bytes)
    }

    /// A copy with the unread rest of this body.
    var copy: BufferedBody { BufferedBody(bytes.withLock { $0 }) }

    func read() -> [UInt8]? {
        bytes.withLock { bytes in
            defer { bytes = [] }
            return bytes.isEmpty ? nil : bytes
        }
    }
}
