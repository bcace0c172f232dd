internal import SettleDatabase
internal import SettlePlatform

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
