/// The CRC-32 of Castagnoli's polynomial, with which LevelDB checks its blocks and records.
package enum CRC32C {
    /// Eight tables, so that eight bytes are added in one step.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
            tables[byte] = value
        }
        for index in 256..<8 * 256 {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 255)]
        }
        return tables
    }()

    /// The sum of bytes that follow others, whose sum is `sum`.
    package static func sum(_ bytes: UnsafeRawBufferPointer, after sum: UInt32 = 0) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            var value = ~sum
            var offset = 0
            while offset + 8 <= bytes.count {
                let word =
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ UInt64(value)
                value = 0
                for place in 0..<8 { value ^= tables[(7 - place) * 256 + Int(word >> UInt64(8 * place) & 255)] }
                offset += 8
            }
            while offset < bytes.count {
                value = value >> 8 ^ tables[Int((value ^ UInt32(bytes[offset])) & 255)]
                offset += 1
            }
            return ~value
        }
    }

    /// A sum as LevelDB stores it, so that a sum of bytes that contain sums is not trivial.
    package static func masked(_ sum: UInt32) -> UInt32 { (sum >> 15 | sum << 17) &+ 0xA282_EAD8 }
}
