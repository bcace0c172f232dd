/// A hash function over blocks of 64 bytes, without the padding that MD5, SHA-1 and SHA-256 share.
package protocol BlockFunction {
    /// The number of bytes of a digest.
    static var length: Int { get }
    /// Whether numbers are big-endian, in blocks and in the digest.
    static var isBigEndian: Bool { get }
    /// The state, which is the digest after the last block.
    var words: [UInt32] { get }

    init()

    /// Processes a block of 64 bytes.
    mutating func absorb(_ block: UnsafeRawBufferPointer)
}

/// A digest in pure Swift, for systems without a library, and for comparison in tests.
package struct PortableDigest<Function: BlockFunction>: DigestState {
    package static var length: Int { Function.length }
    private var function = Function()
    /// The bytes that don't fill a block yet.
    private var tail = [UInt8](repeating: 0, count: 64)
    private var filled = 0
    private var count: UInt64 = 0

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count &+= UInt64(bytes.count)
        var start = 0
        if filled > 0 {
            start = min(64 - filled, bytes.count)
            keep(bytes[..<start])
            guard filled == 64 else { return }
            absorbTail()
        }
        while bytes.count - start >= 64 {
            function.absorb(UnsafeRawBufferPointer(rebasing: bytes[start..<start + 64]))
            start += 64
        }
        keep(bytes[start...])
    }

    package mutating func finish(into digest: UnsafeMutablePointer<UInt8>) {
        let bits = count &* 8
        var padding: [UInt8] = [0x80]
        while (filled + padding.count) % 64 != 56 { padding.append(0) }
        withUnsafeBytes(of: Function.isBigEndian ? bits.bigEndian : bits.littleEndian) { padding += $0 }
        padding.withUnsafeBytes { update($0) }
        for (place, word) in function.words.enumerated() {
            withUnsafeBytes(of: Function.isBigEndian ? word.bigEndian : word.littleEndian) { bytes in
                for (offset, byte) in bytes.enumerated() { digest[4 * place + offset] = byte }
            }
        }
    }

    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
        for byte in bytes {
            tail[filled] = byte
            filled += 1
        }
    }

    private mutating func absorbTail() {
        let block = tail
        block.withUnsafeBytes { function.absorb($0) }
        filled = 0
    }
}

extension BlockFunction {
    /// A number of a block.
    @inline(__always)
    func word(_ place: Int, of block: UnsafeRawBufferPointer) -> UInt32 {
        let word = block.loadUnaligned(fromByteOffset: 4 * place, as: UInt32.self)
        return Self.isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}

extension UInt32 {
    /// Rotates the bits.
    @inline(__always)
    func rotated(left count: UInt32) -> UInt32 { self &<< count | self &>> (32 &- count) }
}

// MARK: - PortableMD5

/// MD5 of RFC 1321, in pure Swift.
package struct PortableMD5: BlockFunction {
    package static var length: Int { 16 }
    package static var isBigEndian: Bool { false }
    private var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476)

    package var words: [UInt32] { [a, b, c, d] }

    package init() {}

    package mutating func absorb(_ block: UnsafeRawBufferPointer) {
        var (a, b, c, d) = (a, b, c, d)
        for step in 0..<64 {
            let mixed: UInt32
            let place: Int
            switch step >> 4 {
            case 0: (mixed, place) = (b & c | ~b & d, step)
            case 1: (mixed, place) = (d & b | ~d & c, 5 * step + 1)
            case 2: (mixed, place) = (b ^ c ^ d, 3 * step + 5)
            default: (mixed, place) = (c ^ (b | ~d), 7 * step)
            }
            let sum = a &+ mixed &+ Self.constants[step] &+ word(place & 15, of: block)
            let shift = Self.shifts[(step >> 4) << 2 | step & 3]
            (a, b, c, d) = (d, b &+ sum.rotated(left: shift), b, c)
        }
        (self.a, self.b, self.c, self.d) = (self.a &+ a, self.b &+ b, self.c &+ c, self.d &+ d)
    }

    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// The fractions of the sines of 1, 2, 3 and so on.
    private static let constants: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]
}

// MARK: - PortableSHA1

/// SHA-1 of FIPS 180-4, in pure Swift.
package struct PortableSHA1: BlockFunction {
    package static var length: Int { 20 }
    package static var isBigEndian: Bool { true }

    package private(set) var words: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]

    package init() {}

    package mutating func absorb(_ block: UnsafeRawBufferPointer) {
        var schedule = (0..<16).map { word($0, of: block) }
        for step in 16..<80 {
            let mixed = schedule[step - 3] ^ schedule[step - 8] ^ schedule[step - 14] ^ schedule[step - 16]
            schedule.append(mixed.rotated(left: 1))
        }
        var (a, b, c, d, e) = (words[0], words[1], words[2], words[3], words[4])
        for step in 0..<80 {
            let mixed: UInt32
            switch step / 20 {
            case 0: mixed = (b & c | ~b & d) &+ 0x5a82_7999
            case 1: mixed = (b ^ c ^ d) &+ 0x6ed9_eba1
            case 2: mixed = (b & c | b & d | c & d) &+ 0x8f1b_bcdc
            default: mixed = (b ^ c ^ d) &+ 0xca62_c1d6
            }
            let next = a.rotated(left: 5) &+ mixed &+ e &+ schedule[step]
            (e, d, c, b, a) = (d, c, b.rotated(left: 30), a, next)
        }
        for (place, word) in [a, b, c, d, e].enumerated() { words[place] &+= word }
    }
}

// MARK: - PortableSHA256

/// SHA-256 of FIPS 180-4, in pure Swift.
package struct PortableSHA256: BlockFunction {
    package static var length: Int { 32 }
    package static var isBigEndian: Bool { true }

    package private(set) var words: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    package init() {}

    package mutating func absorb(_ block: UnsafeRawBufferPointer) {
        var schedule = (0..<16).map { word($0, of: block) }
        for step in 16..<64 {
            let (near, far) = (schedule[step - 2], schedule[step - 15])
            let small = far.rotated(left: 25) ^ far.rotated(left: 14) ^ far &>> 3
            let large = near.rotated(left: 15) ^ near.rotated(left: 13) ^ near &>> 10
            schedule.append(schedule[step - 16] &+ small &+ schedule[step - 7] &+ large)
        }
        var (a, b, c, d) = (words[0], words[1], words[2], words[3])
        var (e, f, g, h) = (words[4], words[5], words[6], words[7])
        for step in 0..<64 {
            let turned = e.rotated(left: 26) ^ e.rotated(left: 21) ^ e.rotated(left: 7)
            let first = h &+ turned &+ (e & f ^ ~e & g) &+ Self.constants[step] &+ schedule[step]
            let other = a.rotated(left: 30) ^ a.rotated(left: 19) ^ a.rotated(left: 10)
            let second = other &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (place, word) in [a, b, c, d, e, f, g, h].enumerated() { words[place] &+= word }
    }

    /// The fractions of the cube roots of the first primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
