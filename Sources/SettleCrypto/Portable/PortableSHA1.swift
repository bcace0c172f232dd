/// SHA-1 of FIPS 180-4, in Swift alone.
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
