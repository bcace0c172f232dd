internal import CCrypto

/// Making and comparing what must stay secret.
enum Secrets {
    /// Whether bytes are equal, in a time that tells only their number.
    static func areEqual(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        let (left, right) = (Array(left), Array(right))
        return left.count == right.count && !left.isEmpty && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// Random bytes of the system, good for keys.
    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
