internal import CCrypto

/// HMAC by libcrypto.
enum KeyedHash {
    case sha1
    case sha256

    /// The HMAC of a message.
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let (function, length) = self == .sha1 ? (EVP_sha1(), 20) : (EVP_sha256(), 32)
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let made = HMAC(
                function, key, Int32(clamping: key.count), message, message.count, buffer.baseAddress, nil)
            count = made == nil ? 0 : length
        }
    }
}
