/// XXH3 with 128 bits, no seed and its own secret, with which CouchDB checks the chunks of its files since 3.4.
enum XXH128 {
    private static let secret: [UInt8] = [
        0xB8, 0xFE, 0x6C, 0x39, 0x23, 0xA4, 0x4B, 0xBE, 0x7C, 0x01, 0x81, 0x2C, 0xF7, 0x21, 0xAD, 0x1C,
        0xDE, 0xD4, 0x6D, 0xE9, 0x83, 0x90, 0x97, 0xDB, 0x72, 0x40, 0xA4, 0xA4, 0xB7, 0xB3, 0x67, 0x1F,
        0xCB, 0x79, 0xE6, 0x4E, 0xCC, 0xC0, 0xE5, 0x78, 0x82, 0x5A, 0xD0, 0x7D, 0xCC, 0xFF, 0x72, 0x21,
        0xB8, 0x08, 0x46, 0x74, 0xF7, 0x43, 0x24, 0x8E, 0xE0, 0x35, 0x90, 0xE6, 0x81, 0x3A, 0x26, 0x4C,
        0x3C, 0x28, 0x52, 0xBB, 0x91, 0xC3, 0x00, 0xCB, 0x88, 0xD0, 0x65, 0x8B, 0x1B, 0x53, 0x2E, 0xA3,
        0x71, 0x64, 0x48, 0x97, 0xA2, 0x0D, 0xF9, 0x4E, 0x38, 0x19, 0xEF, 0x46, 0xA9, 0xDE, 0xAC, 0xD8,
        0xA8, 0xFA, 0x76, 0x3F, 0xE3, 0x9C, 0x34, 0x3F, 0xF9, 0xDC, 0xBB, 0xC7, 0xC7, 0x0B, 0x4F, 0x1D,
        0x8A, 0x51, 0xE0, 0x4B, 0xCD, 0xB4, 0x59, 0x31, 0xC8, 0x9F, 0x7E, 0xC9, 0xD9, 0x78, 0x73, 0x64,
        0xEA, 0xC5, 0xAC, 0x83, 0x34, 0xD3, 0xEB, 0xC3, 0xC5, 0x81, 0xA0, 0xFF, 0xFA, 0x13, 0x63, 0xEB,
        0x17, 0x0D, 0xDD, 0x51, 0xB7, 0xF0, 0xDA, 0x49, 0xD3, 0x16, 0x55, 0x26, 0x29, 0xD4, 0x68, 0x9E,
        0x2B, 0x16, 0xBE, 0x58, 0x7D, 0x47, 0xA1, 0xFC, 0x8F, 0xF8, 0xB8, 0xD1, 0x7A, 0xD0, 0x31, 0xCE,
        0x45, 0xCB, 0x3A, 0x8F, 0x95, 0x16, 0x04, 0x28, 0xAF, 0xD7, 0xFB, 0xCA, 0xBB, 0x4B, 0x40, 0x7E,
    ]
    private static let prime32: [UInt64] = [0, 0x9E37_79B1, 0x85EB_CA77, 0xC2B2_AE3D]
    private static let prime64: [UInt64] = [
        0, 0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
        0x27D4_EB2F_1656_67C5,
    ]
    private static let (mixer1, mixer2): (UInt64, UInt64) = (0x1656_6791_9E37_79F9, 0x9FB2_1C65_1E98_DF25)

    /// The 16 bytes of the sum, the highest first.
    static func sum(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let (low, high) = secret.withUnsafeBytes { secret in
            let state = State(input: bytes, secret: secret)
            return switch bytes.count {
            case 0: state.empty()
            case ...3: state.upTo3()
            case ...8: state.upTo8()
            case ...16: state.upTo16()
            case ...240: state.upTo240()
            default: state.long()
            }
        }
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    private struct State {
        let input: UnsafeRawBufferPointer
        let secret: UnsafeRawBufferPointer
        private var count: Int { input.count }

        private func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: input.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }

        private func half(_ offset: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: input.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }

        private func key(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: secret.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }

        private func halfKey(_ offset: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: secret.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }

        private func avalanche(_ value: UInt64) -> UInt64 {
            let mixed = (value ^ value >> 37) &* mixer1
            return mixed ^ mixed >> 32
        }

        private func oldAvalanche(_ value: UInt64) -> UInt64 {
            var mixed = (value ^ value >> 33) &* prime64[2]
            mixed = (mixed ^ mixed >> 29) &* prime64[3]
            return mixed ^ mixed >> 32
        }

        private func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
            let product = left.multipliedFullWidth(by: right)
            return product.low ^ product.high
        }

        func empty() -> (UInt64, UInt64) { (oldAvalanche(key(64) ^ key(72)), oldAvalanche(key(80) ^ key(88))) }

        func upTo3() -> (UInt64, UInt64) {
            let combined =
                UInt32(input[count - 1]) | UInt32(count) << 8 | UInt32(input[0]) << 16 | UInt32(input[count >> 1]) << 24
            let turned = combined.byteSwapped << 13 | combined.byteSwapped >> 19
            return (
                oldAvalanche(halfKey(0) ^ halfKey(4) ^ UInt64(combined)),
                oldAvalanche(halfKey(8) ^ halfKey(12) ^ UInt64(turned))
            )
        }

        func upTo8() -> (UInt64, UInt64) {
            let value = key(16) ^ key(24) ^ (half(0) | half(count - 4) << 32)
            let product = value.multipliedFullWidth(by: prime64[1] &+ UInt64(count) << 2)
            let high = product.high &+ product.low << 1
            var low = product.low ^ high >> 3
            low = (low ^ low >> 35) &* mixer2
            return (low ^ low >> 28, avalanche(high))
        }

        func upTo16() -> (UInt64, UInt64) {
            let (first, last) = (word(0), word(count - 8))
            let left = key(32) ^ key(40) ^ first ^ last
            let right = key(48) ^ key(56) ^ last
            let product = left.multipliedFullWidth(by: prime64[1])
            var low = product.low &+ UInt64(count - 1) << 54
            var high = product.high &+ right &+ (right & 0xFFFF_FFFF) &* (prime32[2] &- 1)
            low ^= high.byteSwapped
            let second = low.multipliedFullWidth(by: prime64[2])
            low = second.low
            high = second.high &+ high &* prime64[2]
            return (avalanche(low), avalanche(high))
        }

        private func mix(_ offset: Int, _ place: Int) -> UInt64 {
            fold(word(offset) ^ key(place), word(offset + 8) ^ key(place + 8))
        }

        private func mix(_ sums: inout (UInt64, UInt64), _ first: Int, _ second: Int, _ place: Int) {
            sums.0 = (sums.0 &+ mix(first, place)) ^ (word(second) &+ word(second + 8))
            sums.1 = (sums.1 &+ mix(second, place + 16)) ^ (word(first) &+ word(first + 8))
        }

        func upTo240() -> (UInt64, UInt64) {
            var sums: (UInt64, UInt64) = (UInt64(count) &* prime64[1], 0)
            if count <= 128 {
                for round in (0...(count - 1) >> 5).reversed() {
                    mix(&sums, round * 16, count - round * 16 - 16, round * 32)
                }
            } else {
                for round in 0..<4 { mix(&sums, round * 32, round * 32 + 16, round * 32) }
                sums = (avalanche(sums.0), avalanche(sums.1))
                for round in 4..<count >> 5 { mix(&sums, round * 32, round * 32 + 16, (round - 4) * 32 + 3) }
                mix(&sums, count - 16, count - 32, 103)
            }
            let high = sums.0 &* prime64[1] &+ sums.1 &* prime64[4] &+ UInt64(count) &* prime64[2]
            return (avalanche(sums.0 &+ sums.1), 0 &- avalanche(high))
        }

        func long() -> (UInt64, UInt64) {
            var sums: [UInt64] = [
                prime32[3], prime64[1], prime64[2], prime64[3], prime64[4], prime32[2], prime64[5], prime32[1],
            ]
            sums.withUnsafeMutableBufferPointer { sums in
                let last = (count - 1) / 1024 * 1024
                for block in stride(from: 0, to: last, by: 1024) {
                    for stripe in 0..<16 { accumulate(sums, block + stripe * 64, stripe * 8) }
                    for lane in 0..<8 {
                        sums[lane] = (sums[lane] ^ sums[lane] >> 47 ^ key(128 + 8 * lane)) &* prime32[1]
                    }
                }
                for stripe in 0..<(count - last - 1) / 64 { accumulate(sums, last + stripe * 64, stripe * 8) }
                accumulate(sums, count - 64, 192 - 64 - 7)
            }
            return (
                merge(sums, UInt64(count) &* prime64[1], 11), merge(sums, ~(UInt64(count) &* prime64[2]), 192 - 64 - 11)
            )
        }

        private func accumulate(_ sums: UnsafeMutableBufferPointer<UInt64>, _ offset: Int, _ place: Int) {
            for lane in 0..<8 {
                let data = word(offset + 8 * lane)
                let value = data ^ key(place + 8 * lane)
                sums[lane ^ 1] &+= data
                sums[lane] &+= (value & 0xFFFF_FFFF) &* (value >> 32)
            }
        }

        private func merge(_ sums: [UInt64], _ start: UInt64, _ place: Int) -> UInt64 {
            var result = start
            for pair in 0..<4 {
                result &+= fold(
                    sums[2 * pair] ^ key(place + 16 * pair), sums[2 * pair + 1] ^ key(place + 16 * pair + 8))
            }
            return avalanche(result)
        }
    }
}
