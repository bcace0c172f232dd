internal import CCrypto

/// Operations on secrets.
enum Secrets {
    /// Whether bytes are equal and not empty, in a time that depends only on their number.
    static func areEqual(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        let (left, right) = (Array(left), Array(right))
        return left.count == right.count && !left.isEmpty && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
