import Testing

@testable import SettleReplication

/// Sealed bytes are the same on every system.
struct SealedBytesTests {
    private let key = (0..<32).map { UInt8($0) }

    @Test func `bytes that were sealed elsewhere are opened`() throws {
        // The mark, the nonce 100 to 111, and AES-256-GCM of "a secret" by another implementation.
        let sealed: [UInt8] = [
            0x73, 0x65, 0x74, 0x74, 0x6c, 0x65, 0x00, 0x31, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d,
            0x6e,
            0x6f, 0x29, 0x3b, 0xad, 0x03, 0x1a, 0x9b, 0x33, 0xea, 0x02, 0x15, 0x7c, 0x93, 0x78, 0x4f, 0x0f, 0xce, 0x5f,
            0x02,
            0xc4, 0x88, 0x4f, 0xa1, 0xac, 0x69,
        ]
        #expect(try SealedBytes(sealed).opened(key: key) == Array("a secret".utf8))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1000])
    func `sealed bytes are opened with the key alone, and not after a change`(length: Int) throws {
        let plain = (0..<length).map { _ in UInt8.random(in: 0...255) }
        let sealed = try SealedBytes(sealing: plain, key: key)
        #expect(try SealedBytes(sealed.bytes).opened(key: key) == plain)
        #expect(sealed.bytes.count == length + 36)
        #expect(throws: SealedBytes.Fault.cannotOpen) { try sealed.opened(key: key.reversed()) }
        #expect(throws: SealedBytes.Fault.wrongKeyLength) { try sealed.opened(key: [1]) }
        for place in sealed.bytes.indices {
            var bytes = sealed.bytes
            bytes[place] ^= 1
            #expect(throws: SealedBytes.Fault.cannotOpen) { try SealedBytes(bytes).opened(key: key) }
        }
    }
}
