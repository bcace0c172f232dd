internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import Synchronization

/// A request that has come to the server, as a transport hands it on; ``HTTPRequest`` is one to send.
struct ServerRequest: Sendable {
    /// Why a request's body could not be read.
    enum BodyError: Error {
        /// The body is larger than it may be.
        case tooLarge
    }

    /// The method, spelled as given.
    var method: String
    /// Path and query.
    let target: RequestTarget
    /// The header fields.
    let headers: HTTPHeaders
    /// The body, which has come as a whole.
    var body: any RequestBody
    /// The address it comes from, without a port.
    var peer = ""
    /// How the client has reached the server.
    var route = ClientRoute()
    /// Whether its client still waits for the answer.
    var life = RequestLife()
}

/// Whether the client of a request still waits for the answer.
///
/// Long operations that change nothing, such as queries, check it. The end of a connection is noticed within about a second.
final class RequestLife: Sendable {
    private let isOver = Atomic<Bool>(false)

    /// Whether the client has gone, or has closed its half of the connection.
    var isAbandoned: Bool { isOver.load(ordering: .relaxed) }

    /// Records that the client has gone.
    func abandon() { isOver.store(true, ordering: .relaxed) }
}

/// The body of a request, which has come as a whole, read piece by piece by one thread at a time.
protocol RequestBody: AnyObject, Sendable {
    /// How many bytes there will be, where the client said so.
    var declaredLength: Int64? { get }

    /// The next piece, never empty, or `nil` at the end.
    ///
    /// - Throws: ``DatabaseError`` when it can't be read.
    func read() throws -> [UInt8]?
}

extension RequestBody {
    /// All that is left of the body.
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
                // Room for all at once: an array that grows takes twice its size, and three times while it moves.
                if all.isEmpty { all.reserveCapacity(Int(clamping: declaredLength ?? 0)) }
                all += piece
            }
        }
        return all
    }
}

// MARK: - BufferedBody

/// A body that is in memory already.
final class BufferedBody: RequestBody {
    let declaredLength: Int64?
    private let bytes: Guarded<[UInt8]>

    init(_ bytes: [UInt8] = []) {
        declaredLength = Int64(bytes.count)
        self.bytes = Guarded(bytes)
    }

    /// Another body with what is left of this one.
    var copy: BufferedBody { BufferedBody(bytes.withLock { $0 }) }

    func read() -> [UInt8]? {
        bytes.withLock { bytes in
            defer { bytes = [] }
            return bytes.isEmpty ? nil : bytes
        }
    }
}
