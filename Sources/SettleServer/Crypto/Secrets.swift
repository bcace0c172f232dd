internal import CCrypto

/// Making and comparing what must stay secret.
enum Secrets {
    /// Whether bytes are equal, in a time that tells only their number.
    static func areEqual(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        let (left, right) = (Array(left), Array(right))
        return left.count == right.count && !left.isEmpty && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
