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

    /// Bytes as lower-case hexadecimal digits.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
