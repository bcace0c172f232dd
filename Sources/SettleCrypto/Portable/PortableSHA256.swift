/// SHA-256 of FIPS 180-4, in Swift alone.
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
