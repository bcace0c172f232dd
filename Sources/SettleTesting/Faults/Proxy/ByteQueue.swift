/// A queue of bytes.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }
    /// The queued bytes, oldest first.
    var waiting: ArraySlice<UInt8> { bytes[start...] }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// Removes the first bytes.
    mutating func drop(_ count: Int) {
        start += count
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 1 << 16 {
            bytes.removeFirst(start)
            start = 0
        }
    }

    mutating func removeAll() { drop(count) }
}
