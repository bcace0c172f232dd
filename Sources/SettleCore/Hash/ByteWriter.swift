/// Appends bytes to memory that is reserved beforehand, without a check per write.
///
/// The owner reserves the maximum size before it writes and frees the memory at the end. The written bytes are
/// returned as an array of the exact size.
struct ByteWriter {
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    /// The number of written bytes; lowering it removes the last ones.
    private(set) var count = 0

    init(capacity: Int) {
        base = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        self.capacity = capacity
    }

    func deallocate() { base.deallocate() }

    /// The written bytes.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        assert(count < capacity)
        base[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, count length: Int) {
        assert(count &+ length <= capacity)
        (base + count).update(from: source, count: length)
        count &+= length
    }

    @inline(__always)
    mutating func append(bigEndian value: UInt32) {
        put(bigEndian: value, at: count)
        count &+= 4
    }

    @inline(__always)
    mutating func put(bigEndian value: UInt32, at position: Int) {
        assert(position &+ 4 <= capacity)
        UnsafeMutableRawPointer(base + position).storeBytes(of: value.bigEndian, as: UInt32.self)
    }

    @inline(__always)
    mutating func append(bigEndian value: UInt64) {
        assert(count &+ 8 <= capacity)
        UnsafeMutableRawPointer(base + count).storeBytes(of: value.bigEndian, as: UInt64.self)
        count &+= 8
    }

    /// A written byte.
    @inline(__always)
    subscript(position: Int) -> UInt8 {
        get { base[position] }
        nonmutating set { base[position] = newValue }
    }

    /// The address of the byte at a position.
    @inline(__always)
    func pointer(to position: Int) -> UnsafePointer<UInt8> { UnsafePointer(base + position) }

    /// The bytes written from a position on.
    func written(from position: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + position, count: count - position)
    }

    /// Removes the bytes written after a position.
    @inline(__always)
    mutating func truncate(to position: Int) { count = position }
}
