/// Detects objects with two members of the same name.
///
/// Each name of the open objects is kept as a 64-bit fingerprint. In small objects a new one is compared with the
/// earlier ones; those of a larger object are sorted when it closes. Two names with the same fingerprint only cause a
/// second, exact pass over the document.
struct MemberNames {
    private let fingerprints: UnsafeMutablePointer<UInt64>
    /// The number of recorded names.
    private(set) var count = 0
    private(set) var hasDuplicates = false
    private static let largest = 24
    /// The fewest bytes of text per name that is recorded at one time: `{"":` repeated. Names of sibling members take
    /// one more.
    static let fewestBytes = 4

    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        fingerprints = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
    }

    func deallocate() { fingerprints.deallocate() }

    /// Records a name of the object whose names begin at a position; eight bytes after the name must be readable.
    @inline(__always)
    mutating func add(_ name: UnsafePointer<UInt8>, count length: Int, in first: Int) {
        let fingerprint = Self.fingerprint(of: UnsafeRawPointer(name), count: length)
        if count &- first < Self.largest {
            var index = first
            while index < count {
                if fingerprints[index] == fingerprint { hasDuplicates = true }
                index &+= 1
            }
        }
        assert(count < capacity)
        fingerprints[count] = fingerprint
        count &+= 1
    }

    /// Forgets the names of an object that ends.
    @inline(__always)
    mutating func close(from first: Int) {
        if count &- first > Self.largest { compareMany(from: first) }
        count = first
    }

    private mutating func compareMany(from first: Int) {
        let sorted = UnsafeBufferPointer(start: fingerprints + first, count: count - first).sorted()
        if zip(sorted, sorted.dropFirst()).contains(where: ==) { hasDuplicates = true }
    }

    /// A hash of the length and of all bytes, eight at a time; the last eight are read past the end and masked.
    @inline(__always)
    private static func fingerprint(of name: UnsafeRawPointer, count: Int) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: count) &* 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset &+ 8 <= count {
            hash = mixed(hash ^ name.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        let rest = UInt64(littleEndian: name.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let mask: UInt64 = (1 << UInt64(truncatingIfNeeded: (count &- offset) &* 8)) &- 1
        return mixed(hash ^ (rest & mask))
    }

    @inline(__always)
    static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low &+ value
    }
}
