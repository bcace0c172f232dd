internal import SettleDatabase
internal import SettleHTTP

/// The body of a request while it arrives: in memory as long as it is short, else part by part in a file.
///
///     begin ──▶ receive … ──▶ request body                        a short one
///                  │   ▲
///                  ▼   │ finishSpooling                           a long one, for each part
///             beginSpooling
///
/// It does no I/O: its owner has a thread put each part away, and gives no more bytes meanwhile.
struct ArrivingBody {
    /// How many bytes the header says there are.
    private(set) var declaredLength: Int64?
    /// How many bytes have come.
    private(set) var received: Int64 = 0
    /// Whether a thread is just putting a part away.
    private(set) var isSpooling = false
    /// How large any body may be.
    private(set) var bodyLimit = Int64.max
    /// How large this one may be.
    private var limit = Int64.max
    /// What is in memory.
    private var collected: [UInt8] = []
    /// What has come of a long body, but for what is in memory.
    private var file: UploadFile?

    /// So much of a body is kept in memory.
    private static let maximumInMemory = 1 << 20
    /// How much of a body past the limit is read to give an answer to who sends it.
    private static let maximumDropped: Int64 = 16 << 20

    /// Begins the body of a request.
    ///
    /// - Parameters:
    ///   - declaredLength: How many bytes the header says there are; `nil` if it does not.
    ///   - limit: How large any body may be.
    mutating func begin(_ declaredLength: Int64?, limit: Int64) {
        (self.declaredLength, bodyLimit, self.limit) = (declaredLength, limit, limit)
    }

    /// Whether the header says that the body is short.
    var isDeclaredShort: Bool { declaredLength ?? 0 <= Self.maximumInMemory }

    /// Whether it is larger than it may be, or will be.
    var isTooLarge: Bool { max(declaredLength ?? 0, received) > limit }

    /// Whether it is larger than any body may be, or will be.
    var isLargerThanAny: Bool { max(declaredLength ?? 0, received) > bodyLimit }

    /// Whether so much of a body was dropped that the rest is not read.
    var isDroppedForGood: Bool { received > bodyLimit.adding(clamped: Self.maximumDropped) }

    /// Whether what is in memory is to be put away.
    var isFull: Bool { collected.count > Self.maximumInMemory }

    /// Counts bytes that have come.
    mutating func count(_ bytes: UnsafeBufferPointer<UInt8>) { received += Int64(bytes.count) }

    /// Adds bytes that were counted.
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) { collected.append(contentsOf: bytes) }

    /// Lets go of all that has come.
    mutating func drop() { (file, collected) = (nil, []) }

    /// Hands out a part to be put away, with the file for it; `nil` before the first part.
    mutating func beginSpooling() -> (part: [UInt8], file: UploadFile?) {
        defer { (collected, isSpooling) = ([], true) }
        return (collected, file)
    }

    /// Goes on after a part was put away.
    ///
    /// - Parameters:
    ///   - file: The file with all that came until then; `nil` if that failed.
    ///   - limit: How large this body may be, if that was found out.
    mutating func finishSpooling(_ file: UploadFile?, limit: Int64?) {
        isSpooling = false
        self.file = file
        if let limit { self.limit = min(limit, self.limit) }
    }

    /// Hands out the complete body.
    mutating func finish() -> any RequestBody {
        defer { drop() }
        return file.map { SpooledBody($0, rest: collected, length: received) } ?? BufferedBody(collected)
    }
}
