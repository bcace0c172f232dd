extension String {
    /// Whether both have the same UTF-8 bytes; `==` also considers canonically equivalent strings equal.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isEqual = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                Self.areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether two buffers of the same size are equal; compares eight bytes at a time.
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset + 8 <= left.count {
            let first = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if first != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
            offset += 8
        }
        while offset < left.count {
            if left[offset] != right[offset] { return false }
            offset += 1
        }
        return true
    }

    /// Hashes the bytes, consistently with ``hasSameBytes(as:)``.
    func hashBytes(into hasher: inout Hasher) {
        let isFed: Void? = utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        if isFed == nil { for byte in utf8 { hasher.combine(byte) } }
    }
}
