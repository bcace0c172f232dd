import CCrypto
import SettleTesting
import Testing

@testable import SettleCrypto

/// Digests: those of this system and the portable ones give what libcrypto gives.
struct DigestTests {
    /// What libcrypto gives for the bytes at once.
    private func expected(_ name: String, _ bytes: [UInt8], length: Int) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: length)
        #expect(EVP_Digest(bytes, bytes.count, &digest, nil, EVP_get_digestbyname(name), nil) == 1)
        return digest
    }

    /// The digest of bytes that come in pieces of random lengths.
    private func digest<State: DigestState>(
        _: State.Type, _ bytes: [UInt8], _ random: inout SeededRandom
    ) -> [UInt8] {
        var state = RunningDigest<State>()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...150, using: &random))
            piece.withUnsafeBytes { state.update($0) }
            rest = rest.dropFirst(piece.count)
        }
        return state.finish()
    }

    @Test(arguments: [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1000, 10_000])
    func `every implementation gives the same digests`(length: Int) {
        var random = SeededRandom(seed: SeededRandom.seed &+ UInt64(length))
        for _ in 0..<20 {
            let bytes = random.bytes(length)
            let (md5, sha1) = (expected("MD5", bytes, length: 16), expected("SHA1", bytes, length: 20))
            let sha256 = expected("SHA256", bytes, length: 32)
            #expect(digest(SystemMD5.self, bytes, &random) == md5)
            #expect(digest(PortableDigest<PortableMD5>.self, bytes, &random) == md5)
            #expect(digest(SystemSHA1.self, bytes, &random) == sha1)
            #expect(digest(PortableDigest<PortableSHA1>.self, bytes, &random) == sha1)
            #expect(digest(SystemSHA256.self, bytes, &random) == sha256)
            #expect(digest(PortableDigest<PortableSHA256>.self, bytes, &random) == sha256)
            #expect(SHA1.hash(bytes) == sha1 && SHA256.hash(bytes) == sha256)
        }
    }

    @Test func `one object gives digest after digest`() {
        let md5 = MD5()
        for text in ["", "a", "message digest"] {
            md5.update(Array(text.utf8))
            #expect(md5.finish() == expected("MD5", Array(text.utf8), length: 16))
        }
        md5.update([1, 2, 3])
        let words = md5.finishWords()
        let high = expected("MD5", [1, 2, 3], length: 16).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        #expect(words.high == high)
    }

    @Test(arguments: [0, 1, 20, 63, 64, 65, 200])
    func `codes of messages are those of libcrypto`(keyLength: Int) {
        for length in [0, 1, 64, 300] {
            let key = (0..<keyLength).map { _ in UInt8.random(in: 0...255) }
            let message = (0..<length).map { _ in UInt8.random(in: 0...255) }
            for (name, found, count) in [
                ("SHA1", HMAC.sha1(message, key: key), 20), ("SHA256", HMAC.sha256(message, key: key), 32),
            ] {
                var code = [UInt8](repeating: 0, count: count)
                // An empty key needs an address too.
                _ = CCrypto.HMAC(
                    EVP_get_digestbyname(name), key + [0], Int32(keyLength), message, length, &code, nil)
                #expect(found == code)
            }
            #expect(
                SettleCrypto.HMAC.code(PortableDigest<PortableSHA256>.self, message, key)
                    == SettleCrypto.HMAC.sha256(message, key: key))
        }
    }
}
