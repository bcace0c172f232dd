internal import CCrypto
public import Foundation

/// A stand-in for CryptoKit on Linux, over libcrypto: Apple's signatures of what Settle calls.
public enum AES {
    public enum GCM {}
}

public struct SymmetricKey {
    let bytes: [UInt8]

    public init<D: ContiguousBytes>(data: D) { bytes = data.withUnsafeBytes { Array($0) } }
}

public enum CryptoKitError: Error {
    case incorrectParameterSize
    case authenticationFailure
}

extension AES.GCM {
    public struct Nonce {
        let bytes: [UInt8]

        public init<D: DataProtocol>(data: D) throws {
            guard data.count == 12 else { throw CryptoKitError.incorrectParameterSize }
            bytes = Array(data)
        }
    }

    public struct SealedBox {
        public let nonce: AES.GCM.Nonce
        public let ciphertext: Data
        public let tag: Data

        public init<C: DataProtocol, T: DataProtocol>(nonce: AES.GCM.Nonce, ciphertext: C, tag: T) throws {
            guard tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
            (self.nonce, self.ciphertext, self.tag) = (nonce, Data(ciphertext), Data(tag))
        }
    }

    public static func seal<Plaintext: DataProtocol, AuthenticatedData: DataProtocol>(
        _ message: Plaintext, using key: SymmetricKey, nonce: AES.GCM.Nonce? = nil,
        authenticating authenticatedData: AuthenticatedData
    ) throws -> AES.GCM.SealedBox {
        let nonce = try nonce ?? Nonce(data: (0..<12).map { _ in UInt8.random(in: 0...255) })
        let (plain, mark) = (Array(message), Array(authenticatedData))
        var (cipher, tag) = ([UInt8](repeating: 0, count: plain.count + 16), [UInt8](repeating: 0, count: 16))
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var (length, last): (Int32, Int32) = (0, 0)
        guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key.bytes, nonce.bytes) == 1,
            EVP_EncryptUpdate(context, nil, &last, mark, Int32(mark.count)) == 1,
            EVP_EncryptUpdate(context, &cipher, &length, plain, Int32(plain.count)) == 1,
            EVP_EncryptFinal_ex(context, &tag, &last) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
        else { throw CryptoKitError.incorrectParameterSize }
        return try SealedBox(nonce: nonce, ciphertext: cipher.prefix(Int(length)), tag: tag)
    }

    public static func open<AuthenticatedData: DataProtocol>(
        _ sealedBox: AES.GCM.SealedBox, using key: SymmetricKey, authenticating authenticatedData: AuthenticatedData
    ) throws -> Data {
        let (cipher, mark) = (Array(sealedBox.ciphertext), Array(authenticatedData))
        var (plain, tag) = ([UInt8](repeating: 0, count: cipher.count + 16), Array(sealedBox.tag))
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var (length, last): (Int32, Int32) = (0, 0)
        guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key.bytes, sealedBox.nonce.bytes) == 1,
            EVP_DecryptUpdate(context, nil, &last, mark, Int32(mark.count)) == 1,
            EVP_DecryptUpdate(context, &plain, &length, cipher, Int32(cipher.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1,
            EVP_DecryptFinal_ex(context, &tag, &last) == 1
        else { throw CryptoKitError.authenticationFailure }
        return Data(plain.prefix(Int(length)))
    }
}
