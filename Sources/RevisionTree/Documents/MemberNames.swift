/// Notices objects with two members of one name.
///
/// Each name of the open objects is kept as a 64-bit fingerprint. In small objects a new one is compared with those
/// before it; a larger object's are sorted when it closes. Two names with one fingerprint only lead to a second,
/// exact look at the document.
struct MemberNames {
    private var fingerprints: [UInt64] = []
    private(set) var hasDuplicates = false
    private static let largest = 24

    /// How many names are noted.
    var count: Int { fingerprints.count }

    /// Notes a name of the object whose names begin at a position.
    @inline(__always)
    mutating func add(_ name: UnsafeBufferPointer<UInt8>, in first: Int) {
        let fingerprint = Self.fingerprint(of: UnsafeRawBufferPointer(name))
        let count = fingerprints.count
        if count &- first < Self.largest {
            fingerprints.withUnsafeBufferPointer { all in
                var index = first
                while index < count {
                    if all[index] == fingerprint { hasDuplicates = true }
                    index &+= 1
                }
            }
        }
        fingerprints.append(fingerprint)
    }

    /// Forgets the names of an object that ends.
    mutating func close(from first: Int) {
        if fingerprints.count - first > Self.largest {
            let sorted = fingerprints[first...].sorted()
            if zip(sorted, sorted.dropFirst()).contains(where: ==) { hasDuplicates = true }
        }
        fingerprints.removeSubrange(first...)
    }

    /// A mix of the length and of all bytes, eight at a time.
    @inline(__always)
    private static func fingerprint(of name: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: name.count) &* 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset &+ 8 <= name.count {
            hash = mixed(hash ^ name.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        var rest: UInt64 = 0
        while offset < name.count {
            rest = rest << 8 | UInt64(name[offset])
            offset &+= 1
        }
        return mixed(hash ^ rest)
    }

    @inline(__always)
    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low &+ value
    }
}
