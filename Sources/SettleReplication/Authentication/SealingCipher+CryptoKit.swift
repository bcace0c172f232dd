#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation

/// AES-256-GCM by CryptoKit.
enum SealingCipher {
    /// Encrypts bytes; the tag covers the mark as well. `nil` if CryptoKit fails.
    static func seal(
        _ plain: [UInt8], mark: [UInt8], key: [UInt8], nonce: [UInt8]
    ) -> (cipher: [UInt8], tag: [UInt8])? {
        guard let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.seal(plain, using: SymmetricKey(data: key), nonce: nonce, authenticating: mark)
        else { return nil }
        return (Array(box.ciphertext), Array(box.tag))
    }

    /// Decrypts bytes; `nil` if the key is wrong, or if the bytes, the tag or the mark were changed.
    static func open(_ cipher: [UInt8], tag: [UInt8], mark: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        guard let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: cipher, tag: tag)
        else { return nil }
        return (try? AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: mark)).map { Array($0) }
    }
}
#endif
